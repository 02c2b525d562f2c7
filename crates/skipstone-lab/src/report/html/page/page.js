// A comparison's page, of all its parts.
page.append(
  ...[head(), matrix(), conditionPick(), figures(), percentiles(), windows(), timeline(), bytes(), cpu()].filter(
    Boolean,
  ),
);
