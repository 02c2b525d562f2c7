// The frames of the last hour, oldest first.

import type { Frame } from "./types";

export const FRAMES_MAX = 3600;

export class Frames {
  private frames: Frame[] = [];

  /** Adds frames; one that is no newer than the last is there already. */
  add(...frames: Frame[]): void {
    for (const frame of frames) {
      if (frame.t > (this.frames.at(-1)?.t ?? 0)) this.frames.push(frame);
    }
    if (this.frames.length > FRAMES_MAX) this.frames = this.frames.slice(-FRAMES_MAX);
  }

  get last(): Frame | undefined {
    return this.frames.at(-1);
  }

  /** The frames of the last seconds. */
  window(seconds: number): Frame[] {
    const from = (this.last?.t ?? 0) - seconds * 1000;
    let low = 0;
    let high = this.frames.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.frames[middle]?.t ?? 0) < from) low = middle + 1;
      else high = middle;
    }
    return this.frames.slice(low);
  }
}

/** Every carrier that a frame has, in the order of their names. */
export function carriers(frames: Frame[]): string[] {
  return [...new Set(frames.flatMap((frame) => Object.keys(frame.carriers)))].sort();
}
