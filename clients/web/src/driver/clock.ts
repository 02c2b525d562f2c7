// Time, timers and random numbers for the driver. Tests replace them with virtual ones.

/** A timer that has not run yet. */
export interface Timer {
  cancel(): void;
}

export interface Clock {
  /** Milliseconds that only grow, with a fraction. */
  now(): number;
  /** Calls once, no sooner than after this number of milliseconds. */
  after(ms: number, call: () => void): Timer;
  /** Calls in a new task, after everything received so far was handled. */
  soon(call: () => void): void;
  /** At least 0, below 1. */
  random(): number;
  /** A seed for the protocol. */
  seed(): Uint8Array;
}

/**
 * Timers that were set by timers wait for at least 4 ms (HTML, section 8.7), which is too coarse for acknowledgements:
 * a shorter timer is set from a message's task, where that rule does not apply.
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
  // A browser accepts at most 31 bits, and truncates fractions: a timer that ends too soon would be set again,
  // thousands of times a second.
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
