// A queue with two cheap ends: taking from the front of an array moves all other items.

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
    // Taken items are released once they are half of all: each item is moved at most once.
    if (this.#taken * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }
}
