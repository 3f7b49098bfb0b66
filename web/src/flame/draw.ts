// Draws what is seen of a flame graph onto a canvas.

import type { Tree } from '../tree/tree.ts';
import { firstAfter, type Layout, type Range } from './layout.ts';

/** The height of a row, in CSS pixels. */
export const rowHeight = 20;

/** Nodes are drawn from so many CSS pixels on. Those that are narrower are shown together, as a shade. */
const leastWidth = 0.6;
/** From so many on they have their names. */
const leastNamed = 26;

/** What is drawn. */
export interface Picture {
  tree: Tree;
  layout: Layout;
  range: Range;
  /** The rows that are seen: from the top of the picture, in CSS pixels. */
  scroll: number;
  width: number;
  height: number;
  colour: (node: number) => string;
  label: (node: number) => string;
  /** By frame, whether it is one that is searched for; undefined if nothing is. */
  found?: Uint8Array;
  selected: number;
  hovered: number;
  style: Style;
}

/** Colours that do not depend on nodes. */
export interface Style {
  font: string;
  text: string;
  dim: string;
  root: string;
  found: string;
  selected: string;
}

/** Draws a picture. The context is scaled to CSS pixels. */
export function draw(context: CanvasRenderingContext2D, picture: Picture): void {
  const { width, height, scroll, layout, style } = picture;
  context.clearRect(0, 0, width, height);
  context.font = style.font;
  context.textBaseline = 'middle';
  const first = Math.max(0, Math.floor(scroll / rowHeight));
  const last = Math.min(layout.levels.length - 1, Math.floor((scroll + height) / rowHeight));
  const letter = context.measureText('abcdefghijklmnopqrstuvwxyzABC.()').width / 32;
  for (let level = first; level <= last; level++) drawRow(context, picture, level, letter);
  for (const node of [picture.hovered, picture.selected]) outline(context, picture, node);
}

function drawRow(context: CanvasRenderingContext2D, picture: Picture, level: number, letter: number): void {
  const { tree, layout, range, width, style, found } = picture;
  const nodes = layout.levels[level]!;
  const scale = width / (range.to - range.from);
  const y = level * rowHeight - picture.scroll;
  const fill = (node: number) => {
    if (found?.[tree.frame[node]!]) return style.found;
    if (node == 0) return style.root;
    return found ? style.dim : picture.colour(node);
  };
  let shaded = -1; // the last pixel that stands for nodes that are too narrow
  for (let i = firstAfter(tree, layout, level, range.from); i < nodes.length; i++) {
    const node = nodes[i]!;
    const start = layout.start[node]!;
    if (start >= range.to) break;
    const from = Math.max(0, (start - range.from) * scale);
    const wide = Math.min(width, (start + tree.total[node]! - range.from) * scale) - from;
    if (wide < leastWidth) {
      const pixel = Math.floor(from);
      if (wide <= 0 || pixel == shaded) continue;
      context.fillStyle = found?.[tree.frame[node]!] ? style.found : style.dim;
      context.fillRect(pixel, y, 1, rowHeight - 1);
      shaded = pixel;
      continue;
    }
    context.fillStyle = fill(node);
    context.fillRect(from, y, wide > 3 ? wide - 0.7 : wide, rowHeight - 1);
    if (wide < leastNamed) continue;
    context.fillStyle = style.text;
    const letters = Math.floor((wide - 7) / (letter * 1.07));
    const label = picture.label(node);
    context.fillText(label.length > letters ? `${label.slice(0, letters - 1)}…` : label, from + 4, y + rowHeight / 2);
  }
}

function outline(context: CanvasRenderingContext2D, picture: Picture, node: number): void {
  const { tree, layout, range, width, scroll, style } = picture;
  if (node <= 0) return;
  const scale = width / (range.to - range.from);
  const from = Math.max(0, (layout.start[node]! - range.from) * scale);
  const to = Math.min(width, (layout.start[node]! + tree.total[node]! - range.from) * scale);
  if (to < 0 || from > width) return;
  context.strokeStyle = style.selected;
  context.lineWidth = node == picture.selected ? 2 : 1;
  context.strokeRect(from + 0.5, tree.level[node]! * rowHeight - scroll + 0.5, Math.max(2, to - from - 1), rowHeight - 2);
}
