// Errors that are known at the call are errors of the call.

import { describe, expect, test } from "vitest";
import { Admission } from "../src/admission";
import { SendError } from "../src/errors";
import type { ChannelRule, ServerSettings } from "../src/settings";

const rule = (channel: number, more: Partial<ChannelRule> = {}): ChannelRule => ({
  first: channel,
  last: channel,
  mode: "reliableOrdered",
  priority: 1,
  weight: 1,
  overflow: "disconnect",
  receipts: false,
  queueMessagesMax: 3,
  queueBytesMax: 1_000,
  redundancy: undefined,
  ...more,
});

const settings: ServerSettings = {
  idleTimeout: 30_000,
  keepalive: 25_000,
  ackDelay: 1,
  ackDelayMax: 70,
  messageBytesMax: 500,
  windowBytes: 10_000,
  datagramBytesMax: 1_472,
  movesChannel: 65_536,
  merging: 0,
  redundancy: { mode: { kind: "adaptive" }, budgetPercent: 125 },
  channels: [rule(0), rule(1, { overflow: "refuse" }), rule(2, { queueBytesMax: 100 })],
};

const opened = (queueBytesMax = 10_000): Admission => {
  const admission = new Admission(queueBytesMax);
  admission.open(settings);
  return admission;
};

const refusal = (act: () => void): string => {
  try {
    act();
    return "accepted";
  } catch (error) {
    return error instanceof SendError ? error.reason : String(error);
  }
};

const bytes = (count: number): Uint8Array => new Uint8Array(count);

describe("a message is refused", () => {
  test("while the connection is not established", () => {
    const admission = new Admission(1_000);
    expect(refusal(() => admission.admit(0, bytes(1)))).toBe("notConnected");
    admission.open(settings);
    expect(refusal(() => admission.admit(0, bytes(1)))).toBe("accepted");
    admission.close();
    expect(refusal(() => admission.admit(0, bytes(1)))).toBe("notConnected");
  });

  test.each([3, -1, 65_536, 0.5, Number.NaN])("on channel %f, which does not exist", (channel) => {
    expect(refusal(() => opened().admit(channel, bytes(1)))).toBe("noSuchChannel");
  });

  test("if it is longer than the settings or the channel's queue allow", () => {
    expect(refusal(() => opened().admit(0, bytes(500)))).toBe("accepted");
    expect(refusal(() => opened().admit(0, bytes(501)))).toBe("tooLong");
    expect(refusal(() => opened().admit(2, bytes(101)))).toBe("tooLong");
  });

  test("when too much waits for the worker, until it has taken some", () => {
    const admission = opened(1_000);
    admission.admit(0, bytes(400));
    admission.admit(0, bytes(400));
    expect(refusal(() => admission.admit(0, bytes(400)))).toBe("workerBusy");
    admission.onTaken(464, []);
    expect(refusal(() => admission.admit(0, bytes(400)))).toBe("accepted");
    expect(admission.bytes).toBe(928);
  });

  test("when the queue of a channel that refuses is full, wherever its messages wait", () => {
    const admission = opened();
    const send = (): string => refusal(() => admission.admit(1, bytes(10)));
    expect([send(), send(), send(), send()]).toEqual(["accepted", "accepted", "accepted", "queueFull"]);
    // The worker has two of the three, and one of those has been acknowledged.
    admission.onTaken(148, [{ channel: 1, messages: 1, bytes: 10, takenMessages: 2, takenBytes: 20 }]);
    expect([send(), send()]).toEqual(["accepted", "queueFull"]);
    admission.onTaken(148, [{ channel: 1, messages: 0, bytes: 0, takenMessages: 4, takenBytes: 40 }]);
    expect([send(), send(), send(), send()]).toEqual(["accepted", "accepted", "accepted", "queueFull"]);
    // Others, and the next connection, have queues of their own.
    expect(refusal(() => admission.admit(0, bytes(10)))).toBe("accepted");
    admission.open(settings);
    expect(send()).toBe("accepted");
  });
});

test("the error holds the message and says what to do", () => {
  const admission = opened();
  try {
    admission.admit(2, bytes(200));
  } catch (error) {
    expect(error).toBeInstanceOf(SendError);
    expect((error as SendError).payload).toHaveLength(200);
    expect(String(error)).toContain("has 200 bytes and this channel takes 100 at most");
  }
});
