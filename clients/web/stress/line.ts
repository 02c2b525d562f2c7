// The lines of a stress run, as crates/skipstone-lab/src/measure/sentence.rs has them: four numbers of five Z85 digits
// (a check, run and client, sequence and time), then words.

/** A received line. */
export type Parsed =
  | { kind: "line"; client: number; sequence: number; scheduledUs: number }
  /** Chat, or a line of another run. */
  | { kind: "foreign" }
  /** A line of this run that was changed on its way. */
  | { kind: "corrupt" };

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
const CODES = Uint8Array.from(DIGITS, (digit) => digit.charCodeAt(0));
const NO_DIGIT = 255;
const VALUES = new Uint8Array(256).fill(NO_DIGIT);
CODES.forEach((code, value) => (VALUES[code] = value));

const HEADER_BYTES = 20;
const CHECK_BYTES = 5;
const [SENTENCE_BYTES_MIN, SENTENCE_BYTES_MAX] = [20, 115];
const WORDS =
  "the of and a to in he have it that for they with as not on she at by this we you do but from or which one would all will there say who make when can more if no man out other so what time up go about than into could state only new year some take come these know see use get like then first any work now may such give over think most even find day also after way many must look before great back through long where much should well people down own just because good each those feel seem how high too place little world very still nation hand old life tell write become here show house both between need mean call develop under last right move thing general school never same another begin while number part turn real leave might want point form off child few small since against ask late home interest large person end open public follow during present without again hold govern around possible head consider word program problem however lead system set order eye plan run keep face fact group play stand increase early course change help line".split(
    " ",
  );

const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) {
    rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  }
  return rest >>> 0;
});

/** CRC-32 (IEEE 802.3). */
export function checksum(bytes: Uint8Array): number {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest = (rest >>> 8) ^ (CRC[(rest ^ byte) & 0xff] ?? 0);
  }
  return (rest ^ 0xffffffff) >>> 0;
}

function encode(number: number, out: Uint8Array, at: number): void {
  let rest = number;
  for (let digit = 4; digit >= 0; digit -= 1) {
    out[at + digit] = CODES[rest % 85] ?? 0;
    rest = Math.floor(rest / 85);
  }
}

/** The number at a place; `undefined` where there are no digits, or more than 32 bits. */
function decode(line: Uint8Array, at: number): number | undefined {
  let number = 0;
  for (let digit = 0; digit < 5; digit += 1) {
    const value = VALUES[line[at + digit] ?? 0] ?? NO_DIGIT;
    if (value === NO_DIGIT) {
      return undefined;
    }
    number = number * 85 + value;
  }
  return number < 2 ** 32 ? number : undefined;
}

/** Lines of a run: of this length each, or as long as sentences are. */
export class Lines {
  readonly #run: number;
  readonly #bytes: number | undefined;
  readonly #random: () => number;

  constructor(run: number, bytes: number | undefined, random: () => number = Math.random) {
    this.#run = run;
    this.#bytes = bytes;
    this.#random = random;
  }

  write(client: number, sequence: number, scheduledUs: number): Uint8Array {
    const span = SENTENCE_BYTES_MAX - SENTENCE_BYTES_MIN + 1;
    const length = this.#bytes ?? SENTENCE_BYTES_MIN + Math.floor(this.#random() * span);
    const line = new Uint8Array(length);
    encode(this.#run * 65_536 + client, line, 5);
    encode(sequence * 256 + Math.floor(scheduledUs / 2 ** 32), line, 10);
    encode(scheduledUs % 2 ** 32, line, 15);
    for (let at = HEADER_BYTES; at < length;) {
      const word = ` ${WORDS[Math.floor(this.#random() * WORDS.length)] ?? ""}`;
      for (let letter = 0; letter < word.length && at < length; letter += 1, at += 1) {
        line[at] = word.charCodeAt(letter);
      }
    }
    encode(checksum(line.subarray(CHECK_BYTES)), line, 0);
    return line;
  }

  parse(line: Uint8Array): Parsed {
    const owner = line.length < HEADER_BYTES ? undefined : decode(line, 5);
    if (owner === undefined || Math.floor(owner / 65_536) !== this.#run) {
      return { kind: "foreign" };
    }
    const [check, high, low] = [decode(line, 0), decode(line, 10), decode(line, 15)];
    if (high === undefined || low === undefined || check !== checksum(line.subarray(CHECK_BYTES))) {
      return { kind: "corrupt" };
    }
    const scheduledUs = (high % 256) * 2 ** 32 + low;
    return { kind: "line", client: owner % 65_536, sequence: Math.floor(high / 256), scheduledUs };
  }
}
