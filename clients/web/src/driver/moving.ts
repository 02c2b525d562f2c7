// The carrier to a server to which the client is moved. The core decides (WIRE.md section 8.2); this opens what it asks
// for.

import type { Core } from "../core/core";
import type { CarrierChoice } from "../options";
import type { CarrierKind } from "../statistics";
import type { Pump } from "./pump";
import type { Race } from "./race";

export class Moving {
  readonly #core: Core;
  readonly #pump: Pump;
  #race: Race | undefined;
  #choices: readonly CarrierChoice[] = [];
  /** The other connection, which may have ended. */
  #socket: number | undefined;

  constructor(core: Core, pump: Pump) {
    this.#core = core;
    this.#pump = pump;
  }

  /** The other connection, if there is one. */
  get socket(): number | undefined {
    return this.#socket;
  }

  /** The core asks for a connection to the server of these carriers, which `start` begins to open. */
  open(choices: readonly CarrierChoice[], start: (choices: readonly CarrierChoice[]) => Race): void {
    this.cancel();
    this.#choices = choices;
    const dialed = start(choices);
    this.#race = dialed;
    dialed.winner.then(
      (carrier) => {
        if (this.#race !== dialed) {
          carrier.close();
          return;
        }
        this.#race = undefined;
        // The core refuses it if the move has ended, and the carrier is closed then.
        const socket = this.#pump.connectThere(carrier);
        this.#socket = socket < 0 ? undefined : socket;
        this.#pump.soon();
      },
      () => {
        if (this.#race === dialed) {
          this.#race = undefined;
          this.fail();
        }
      },
    );
  }

  /** There is no such server for this page. */
  fail(): void {
    this.#core.moveFailed(this.#pump.now());
    this.#pump.soon();
  }

  /** The client is on that server now: its carriers, and the URL of the one that it uses. */
  onMoved(kind: CarrierKind): { carriers: readonly CarrierChoice[]; url: string } {
    this.#socket = undefined;
    const url = this.#choices.find((choice) => choice.kind === kind)?.url ?? "";
    return { carriers: this.#choices, url };
  }

  /** Opens nothing any more. */
  cancel(): void {
    const race = this.#race;
    this.#race = undefined;
    race?.cancel();
  }
}
