// Many small things as two buffers, which are handed from thread to thread without being copied.

/** Numbers, a fixed count for each item, and the items' bytes one after the other. */
export interface Batch {
  numbers: Float64Array<ArrayBuffer>;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The buffers that change hands. */
export function buffersOf(batch: Batch | undefined): ArrayBuffer[] {
  return batch === undefined ? [] : [batch.numbers.buffer, batch.bytes.buffer];
}

/** Collects items. */
export class BatchWriter {
  readonly #numbers: number[] = [];
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  #length = 0;

  get isEmpty(): boolean {
    return this.#numbers.length === 0;
  }

  /** Adds an item; its last number is the length of its bytes, which are copied. */
  add(numbers: readonly number[], bytes: Uint8Array): void {
    this.#numbers.push(...numbers, bytes.length);
    const end = this.#length + bytes.length;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(end, this.#bytes.length * 2, 256));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, this.#length);
    this.#length = end;
  }

  /** All items so far; `undefined` if there are none. */
  take(): Batch | undefined {
    if (this.isEmpty) {
      return undefined;
    }
    const batch = { numbers: Float64Array.from(this.#numbers), bytes: this.#bytes.subarray(0, this.#length) };
    this.#numbers.length = 0;
    this.#bytes = new Uint8Array(0);
    this.#length = 0;
    return batch;
  }
}

/** Calls for each item of `count` numbers, the length among them. The bytes are a view into the batch. */
export function eachItem(
  batch: Batch,
  count: number,
  call: (numbers: Float64Array, bytes: Uint8Array<ArrayBuffer>) => void,
): void {
  let at = 0;
  for (let from = 0; from + count <= batch.numbers.length; from += count) {
    const numbers = batch.numbers.subarray(from, from + count);
    const length = numbers[count - 1] ?? 0;
    call(numbers, batch.bytes.subarray(at, at + length));
    at += length;
  }
}
