// The state of one GameServer, as Agones keeps it: what the SDK's calls do to it, and health. No network.

import { EventEmitter } from 'node:events';

/** Of the test's GameServer. Agones' defaults are 5 s, 3 and 5 s. */
export const HEALTH = { period_seconds: 1, failure_threshold: 3, initial_delay_seconds: 0 };

export class GameServer extends EventEmitter {
  state = 'Scheduled';
  pings = 0;
  #labels = {};
  #annotations = {};
  #pinged = Date.now();
  #watching = setInterval(() => this.#checkHealth(), 100);

  ready() {
    this.#go('Ready');
  }

  allocate() {
    this.#go('Allocated');
  }

  reserve() {
    this.#go('Reserved');
  }

  shutdown() {
    this.#go('Shutdown');
  }

  health() {
    this.pings += 1;
    this.#pinged = Date.now();
  }

  label(key, value) {
    this.#labels[`agones.dev/sdk-${key}`] = value;
    this.emit('change');
  }

  annotate(key, value) {
    this.#annotations[`agones.dev/sdk-${key}`] = value;
    this.emit('change');
  }

  /** As the REST interface gives it: names of the protocol, 64-bit integers as text. */
  toJSON() {
    return {
      object_meta: {
        name: 'game-1',
        namespace: 'default',
        uid: '1',
        resource_version: '1',
        generation: '1',
        creation_timestamp: '0',
        deletion_timestamp: '0',
        annotations: this.#annotations,
        labels: this.#labels,
      },
      spec: { health: { disabled: false, ...HEALTH } },
      status: {
        state: this.state,
        address: '127.0.0.1',
        addresses: [],
        ports: [{ name: 'default', port: 7777 }],
        players: null,
        counters: {},
        lists: {},
      },
    };
  }

  close() {
    clearInterval(this.#watching);
  }

  #go(state) {
    this.state = state;
    this.emit('change');
  }

  #checkHealth() {
    const patience = HEALTH.period_seconds * HEALTH.failure_threshold * 1000;
    const counts = this.state === 'Ready' || this.state === 'Allocated';
    if (counts && Date.now() - this.#pinged > patience) this.#go('Unhealthy');
  }
}
