// The protocol in this thread, with a clock and carriers of the test's.

import { Numbered, type Host } from "../src/link/host";
import type { News, Order } from "../src/link/messages";
import { Sessions, type Thread } from "../src/worker/sessions";

export class LocalHost extends Numbered implements Host {
  readonly #sessions: Sessions;
  /** Everything that the sessions sent. */
  readonly news: News[] = [];

  constructor(thread: Omit<Thread, "post">) {
    super();
    const post = (news: News): void => {
      this.news.push(news);
      // Like a message, it arrives in a task of its own.
      thread.clock.soon(() => this.dispatch(news));
    };
    this.#sessions = new Sessions({ ...thread, post });
  }

  post(order: Order): void {
    this.#sessions.handle(order);
  }
}
