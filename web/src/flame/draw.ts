// Draws the visible part of a flame graph on a canvas.

import { changeOf, type Palette } from '../tree/colour.ts';
import type { Tree } from '../tree/tree.ts';
import { firstAfter } from './hit.ts';
import { font, type Labels } from './labels.ts';
import type { Layout } from './layout.ts';
import type { Raster } from './raster.ts';
import type { Range } from './range.ts';

/** The height of a row, in CSS pixels. */
export const rowHeight = 20;

/** The minimum width of a node's box, in CSS pixels. Narrower nodes only shade their pixel. */
const leastWidth = 0.5;
/** The minimum widths, in pixels, of nodes with a name and of nodes with a time. */
const leastNamed = 24;
const leastTimed = 150;

/** The parameters of a drawing. Lengths are CSS pixels. */
export interface Picture {
  tree: Tree;
  layout: Layout;
  range: Range;
  /** Whether callers are below their callees. */
  upwards: boolean;
  /** Distance of the visible part from the top of all rows. */
  scroll: number;
  width: number;
  height: number;
  /** Device pixels per CSS pixel. */
  density: number;
  palette: Palette;
  colour: (node: number) => string;
  labels: Labels;
  /** The name of the root. */
  title: string;
  amount: (node: number) => string;
  /** By frame, whether it matches the search; undefined without a search. */
  found?: Uint8Array;
  /** Callers of this node are grey. */
  zoomed: number;
}

/** Returns the distance of a level from the top of all rows. */
export function topOf(level: number, levels: number, upwards: boolean): number {
  return (upwards ? levels - 1 - level : level) * rowHeight;
}

/** Draws a picture. The context is scaled to CSS pixels. */
export function draw(context: CanvasRenderingContext2D, raster: Raster, picture: Picture): void {
  const { width, height, scroll, density, layout, upwards } = picture;
  const levels = layout.levels.length;
  const first = Math.max(0, Math.floor(scroll / rowHeight));
  const last = Math.min(levels - 1, Math.floor((scroll + height) / rowHeight));
  const texts: Text[] = [];
  raster.begin(Math.max(1, Math.round(width * density)), Math.max(1, last - first + 1));
  for (let row = first; row <= last; row++) {
    raster.row(row - first);
    fillLevel(raster, picture, upwards ? levels - 1 - row : row, texts);
  }
  raster.put();
  context.clearRect(0, 0, width, height);
  context.imageSmoothingEnabled = false;
  for (let row = first; row <= last; row++)
    raster.draw(context, row - first, row * rowHeight - scroll, width, rowHeight - 1);
  context.font = font;
  context.textBaseline = 'middle';
  context.fillStyle = picture.palette.text;
  for (const text of texts) drawText(context, picture, text);
}

/** A node with a text, and the position of its box. */
interface Text {
  node: number;
  left: number;
  width: number;
}

/** Fills the boxes of a level, and collects those that are wide enough for texts. */
function fillLevel(raster: Raster, picture: Picture, level: number, texts: Text[]): void {
  const { tree, layout, range, width, density, found, palette, zoomed } = picture;
  const nodes = layout.levels[level]!;
  const scale = (width * density) / (range.to - range.from); // device pixels
  const narrow = new NarrowNodes(raster, palette);
  for (let i = firstAfter(layout, level, range.from); i < nodes.length; i++) {
    const node = nodes[i]!;
    const start = layout.start[node]!;
    if (start >= range.to) break;
    const from = Math.max(0, (start - range.from) * scale);
    const to = Math.min(width * density, (start + layout.width[node]! - range.from) * scale);
    if (to <= from) continue;
    const matches = found != undefined && node > 0 && found[tree.frame[node]!] == 1;
    if (to - from < leastWidth * density) {
      narrow.add(from, to, matches);
      continue;
    }
    const left = Math.round(from);
    const right = Math.max(left + 1, Math.round(to) - (to - from > 3 * density ? 1 : 0));
    const calls = node < zoomed && tree.end[node]! > zoomed;
    raster.fill(
      left,
      right,
      matches ? palette.found : node == 0 || calls ? palette.root : found ? palette.dim : picture.colour(node),
    );
    const wide = (right - left) / density;
    if (wide >= leastNamed) texts.push({ node, left: left / density, width: wide });
  }
  narrow.end();
}

function drawText(context: CanvasRenderingContext2D, picture: Picture, { node, left, width: wide }: Text): void {
  const { tree, labels, layout, upwards } = picture;
  const middle = topOf(tree.level[node]!, layout.levels.length, upwards) - picture.scroll + rowHeight / 2;
  let at = left + 4;
  let room = wide - 8;
  if (tree.baseTotal && node > 0 && wide > 40) {
    const difference = changeOf(tree, node);
    if (Math.abs(difference) >= 0.0005) {
      context.fillText(difference > 0 ? '▲' : '▼', at, middle);
      at += 14;
      room -= 14;
    }
  }
  const frame = tree.frame[node]!;
  const name = node == 0 ? picture.title : labels.fit(context, frame, room);
  context.fillText(name, at, middle);
  if (wide < leastTimed) return;
  const amount = picture.amount(node);
  const width = context.measureText(amount).width;
  const used = node == 0 ? context.measureText(name).width : labels.width(frame);
  if (used + width + 16 <= room) context.fillText(amount, at + room - width, middle);
}

/**
 * Nodes of a row that are too narrow for a box: the shade of a pixel shows how much of it they
 * fill.
 */
class NarrowNodes {
  readonly #raster: Raster;
  readonly #palette: Palette;
  #pixel = -1; // the current pixel
  #filled = 0;
  #found = false;

  constructor(raster: Raster, palette: Palette) {
    this.#raster = raster;
    this.#palette = palette;
  }

  /** Adds a node between two positions in device pixels, from left to right. */
  add(from: number, to: number, found: boolean): void {
    const pixel = Math.floor(from);
    if (pixel != this.#pixel) {
      this.end();
      this.#pixel = pixel;
    }
    this.#filled += to - from;
    this.#found ||= found;
  }

  /** Fills the last pixel. */
  end(): void {
    const { narrow, found } = this.#palette;
    const shade = Math.min(narrow.length - 1, Math.floor(this.#filled * narrow.length));
    if (this.#pixel >= 0) this.#raster.dot(this.#pixel, this.#found ? found : narrow[shade]!);
    this.#pixel = -1;
    this.#filled = 0;
    this.#found = false;
  }
}
