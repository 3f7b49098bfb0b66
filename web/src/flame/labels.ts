// Texts within boxes. Measuring is slow, so that each name is measured once.

import { cut, nameOf } from '../tree/format.ts';
import type { Tree } from '../tree/tree.ts';

/** What texts are drawn with. */
export const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';

/** The names of the frames of a tree, as they fit into boxes. */
export class Labels {
  readonly #tree: Tree;
  readonly #names: string[] = [];
  readonly #widths: number[] = [];

  /** Begins with the names of a tree. */
  constructor(tree: Tree) {
    this.#tree = tree;
  }

  /** Returns as much of the name of a frame as fits into a width, in CSS pixels; '' if not even a few letters do. */
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

  /** Returns how wide the whole name of a frame is, which was fitted before. */
  width(frame: number): number {
    return this.#widths[frame] ?? 0;
  }
}
