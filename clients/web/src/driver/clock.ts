// Time, timers and chance, as the driver asks for them. Tests put virtual ones in their place.

/** A timer that has not run yet. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds that only grow, with a fraction. */
  now(): number;
  /** Calls once, no sooner than in so many milliseconds. */
  after(ms: number, call: () => void): Timer;
  /** Calls in a task of its own, as soon as what has come by then was handled. */
  soon(call: () => void): void;
  /** At least 0, below 1. */
  random(): number;
  /** A seed for the protocol. */
  seed(): Uint8Array;
}

/**
 * Timers that were set by timers wait for 4 ms at least (HTML, section 8.7), which is too coarse for acknowledgements: a timer
 * that ends sooner is set from a message's task, where that rule does not hold.
 */
const NESTED_MS = 4;

/** The browser's own. */
export function browserClock(): Clock {
  const tasks: (() => void)[] = [];
  const channel = new MessageChannel();
  channel.port1.onmessage = () => tasks.shift()?.();
  const soon = (call: () => void): void => {
    tasks.push(call);
    channel.port2.postMessage(null);
  };
  return {
    now: () => performance.now(),
    after: (ms, call) => timerAfter(ms, call, soon),
    soon,
    random: () => (crypto.getRandomValues(new Uint32Array(1))[0] ?? 0) / 2 ** 32,
    seed: () => crypto.getRandomValues(new Uint8Array(32)),
  };
}

function timerAfter(ms: number, call: () => void, soon: (call: () => void) => void): Timer {
  // A browser takes no more than 31 bits, and cuts fractions off: a timer that ends too soon would be set anew, thousands of times a
  // second.
  const span = Math.min(Math.ceil(ms), 2 ** 31 - 1);
  let handle: ReturnType<typeof setTimeout> | undefined;
  let isCancelled = false;
  if (span >= NESTED_MS) {
    handle = setTimeout(call, span);
  } else {
    soon(() => {
      if (!isCancelled) {
        handle = setTimeout(call, span);
      }
    });
  }
  return {
    cancel: () => {
      isCancelled = true;
      clearTimeout(handle);
    },
  };
}
