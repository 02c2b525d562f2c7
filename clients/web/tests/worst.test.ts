// The worst update of a page through loss, in virtual time: 25 entities, 60 updates a second, there and back.

import { beforeAll, expect, test } from "vitest";
import { coreModule } from "../src/core/module";
import { Player } from "./player";

// It is compiled in real time.
beforeAll(() => coreModule());

const [ENTITIES, FIRST_CHANNEL, TICKS, DELAY_MS] = [25, 10, 1_200, 10];

/** Round trips of all updates in ms, sorted. */
async function roundTrips(loss: number, seed: number): Promise<number[]> {
  const player = new Player({ loss, seed, delay: DELAY_MS });
  await player.connected();
  const first = player.clock.now();
  const due = (tick: number): number => first + (tick * 1_000) / 60;
  const came: number[] = [];
  player.client.onEvent = (event) => {
    if (event.type === "message") {
      const tick = new DataView(event.payload.buffer, event.payload.byteOffset).getUint32(0);
      came.push(player.clock.now() - due(tick));
    }
  };
  for (let tick = 0; tick < TICKS; tick += 1) {
    await player.clock.run(due(tick) - player.clock.now());
    for (let entity = 0; entity < ENTITIES; entity += 1) {
      const update = new Uint8Array(50).fill(entity);
      new DataView(update.buffer).setUint32(0, tick);
      player.client.send(FIRST_CHANNEL + entity, update);
    }
    player.client.flush();
  }
  await player.until("the last update", () => came.length === TICKS * ENTITIES);
  return came.sort((one, other) => one - other);
}

test.each([0.005, 0.02])(
  "at a loss of %f each way the worst updates come without a round trip more",
  async (loss) => {
    const all = (await Promise.all([1, 2, 3].map((seed) => roundTrips(loss, seed)))).flat();
    all.sort((one, other) => one - other);
    const at = (share: number): number => all[Math.floor(share * all.length)] ?? NaN;
    console.log(
      loss,
      [0.5, 0.99, 0.998].map((share) => at(share).toFixed(1)),
      all.at(-1),
    );
    expect(at(0.5)).toBeLessThan(22);
    expect(at(0.998)).toBeLessThan(40);
  },
  60_000,
);
