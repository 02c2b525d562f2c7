// In a page: clients that join one after the other and leave again.

const PATIENCE_MS = 10_000;

function join(url) {
  return new Promise((resolve) => {
    const begun = performance.now();
    const client = skipstone.connect(url, { token: "stress 7", fallback: false, reconnect: false });
    const end = (took, why) => {
      client.onEvent = () => undefined;
      client.close();
      resolve({ took, why });
    };
    setTimeout(() => end(undefined, "no answer"), PATIENCE_MS);
    client.onEvent = (event) => {
      if (event.type === "connected") {
        end(performance.now() - begun);
      } else if (event.type === "closed") {
        end(undefined, event.close.reason);
      }
    };
  });
}

/** Connects this number of clients at this rate: how long each took, in ms, and why others failed. */
window.joins = async (url, count, perSecond) => {
  const all = [];
  const first = performance.now();
  for (let number = 0; number < count; number += 1) {
    const wait = first + (number * 1_000) / perSecond - performance.now();
    if (wait > 0) {
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
    all.push(join(url));
  }
  const outcomes = await Promise.all(all);
  return {
    took: outcomes.flatMap(({ took }) => (took === undefined ? [] : [took])),
    failed: outcomes.flatMap(({ took, why }) => (took === undefined ? [why] : [])),
  };
};
