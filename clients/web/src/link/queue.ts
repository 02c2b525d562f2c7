// A queue whose ends are both cheap: taking from the front of an array moves all that is behind it.

export class Queue<T> {
  #items: T[] = [];
  #taken = 0;

  get length(): number {
    return this.#items.length - this.#taken;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#taken === this.#items.length) {
      return undefined;
    }
    const item = this.#items[this.#taken];
    this.#taken += 1;
    // What was taken is let go of once it is half of all: each item is moved once at most.
    if (this.#taken * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }
}
