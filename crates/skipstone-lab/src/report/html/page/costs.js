// What each byte of payload cost, and which CPU time.
const PARTS = [
  ["payload", "b1"],
  ["IP and UDP or TCP headers", "b2"],
  ["redundancy: repairs and copies", "b3"],
  ["sent again", "b5"],
  ["protocol and the rest", "b4"],
];
const bytes = () => {
  const place = h("div", { class: "bars" });
  const show = () => {
    const rows = names.map((name) => [name, summaryOf(name)]).filter(([, row]) => row.bytes_per_payload != null);
    const most = Math.max(...rows.map(([, row]) => row.bytes_per_payload));
    place.replaceChildren(
      ...rows.map(([name, row]) => {
        const per = (value) => (value ?? 0) / row.payload_bytes;
        const [headers, redundancy] = [per(row.header_bytes), per(row.redundancy_bytes)];
        // Messages that were sent again are counted by their payload, copies of them too: at most what the others leave.
        const left = Math.max(row.bytes_per_payload - 1 - headers - redundancy, 0);
        const parts = [1, headers, redundancy, Math.min(per(row.resent_bytes), left)];
        const rest = row.bytes_per_payload - parts.reduce((sum, part) => sum + part, 0);
        parts.push(Math.max(rest, 0));
        const told = PARTS.map(([part], at) => `${part} ${parts[at].toFixed(3)}`).join(", ");
        return h(
          "div",
          { class: "item" },
          h("span", {}, name),
          h(
            "div",
            { class: "bar", title: told, role: "img", "aria-label": told },
            ...parts.map((part, at) =>
              h("span", { style: `width: ${(part / most) * 100}%; background: var(--${PARTS[at][1]})` }),
            ),
          ),
          h("b", {}, row.bytes_per_payload.toFixed(3)),
        );
      }),
    );
  };
  redraws.push(show);
  const keys = h(
    "ul",
    { class: "keys" },
    ...PARTS.map(([part, colour]) =>
      h("li", {}, h("span", { class: "swatch", style: `background: var(--${colour})` }), part),
    ),
  );
  return card(
    "Bytes per payload byte",
    "Redundancy and what was sent again are told by the transport's own counters; where it has none, they are in the rest. What was sent again is estimated from messages.",
    place,
    keys,
  );
};

const cpu = () => {
  if (!result.results.some((row) => row.server_cpu != null)) return null;
  const place = h("div", { class: "bars" });
  const show = () => {
    const rows = names.map((name) => [name, summaryOf(name)]).filter(([, row]) => row.server_cpu != null);
    const most = Math.max(...rows.map(([, row]) => row.server_cpu), 0.1);
    place.replaceChildren(
      ...rows.map(([name, row]) =>
        h(
          "div",
          { class: "item" },
          h("span", {}, name),
          h(
            "div",
            { class: "bar", role: "img", "aria-label": percentText(row.server_cpu) },
            h("span", { style: `width: ${(row.server_cpu / most) * 100}%; background: ${colourOf(name)}` }),
          ),
          h("b", {}, percentText(row.server_cpu)),
        ),
      ),
    );
  };
  redraws.push(show);
  return card(
    "CPU of the server's process",
    "In percent of a core, while updates were sent; one client. What a server of many clients costs is what `skipstone bench` measures.",
    place,
  );
};
