// Texts in boxes. Measuring is slow, so each name is measured once.

import { cut, nameOf } from '../tree/format.ts';
import type { Tree } from '../tree/tree.ts';

/** The font of the texts. */
export const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** The names of a tree's frames, shortened to the widths of boxes. */
export class Labels {
  readonly #tree: Tree;
  readonly #names: string[] = [];
  readonly #widths: number[] = [];

  constructor(tree: Tree) {
    this.#tree = tree;
  }

  /**
   * Returns as much of a frame's name as fits into a width in CSS pixels, or '' if there is no room
   * for a few letters.
   */
  fit(context: CanvasRenderingContext2D, frame: number, room: number): string {
    const name = (this.#names[frame] ??= nameOf(this.#tree.frames[frame]!, 160));
    const width = (this.#widths[frame] ??= context.measureText(name).width);
    if (width <= room) return name;
    let letters = Math.floor((name.length * room) / width);
    for (; letters > 1; letters--) {
      const text = `${cut(name, letters - 1)}…`;
      if (letters < 4 || context.measureText(text).width <= room) return text;
    }
    return '';
  }

  /** Returns the width of a frame's whole name, which must have been fitted before. */
  width(frame: number): number {
    return this.#widths[frame] ?? 0;
  }
}
