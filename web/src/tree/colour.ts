// The colours of nodes. All fills of a theme have nearly the same lightness (OKLCH), so one text
// colour is legible on all of them. Colours of different hues also differ in chroma or lightness.

import { groupOf, ownerOf, type Owner } from './owner.ts';
import type { Frame, Tree } from './tree.ts';

/**
 * What colours show: the owner of the code, its file, its self time, or the change against the
 * base.
 */
export type Colouring = 'owner' | 'file' | 'self' | 'change';

/** Colours that do not depend on the node. */
export interface Palette {
  /** Text colour on all fills. */
  text: string;
  /** Fill of the root, and of nodes that do not match a search. */
  root: string;
  dim: string;
  /** Fill of nodes that match a search. */
  found: string;
  /** Fills of pixels with nodes too narrow to draw: for few nodes, and for more. */
  narrow: readonly string[];
}

/** Returns the colours of a theme that do not depend on the node. */
export function paletteOf(dark: boolean): Palette {
  return dark
    ? palette('#f4f6f9', 0.36, 0.3, oklch(0.47, 0.17, 325), [0.25, 0.29, 0.33])
    : palette('#12151a', 0.88, 0.93, oklch(0.8, 0.15, 325), [0.96, 0.92, 0.88]);
}

function palette(text: string, root: number, dim: number, found: string, narrow: number[]): Palette {
  const grey = (lightness: number) => oklch(lightness, 0.01, 260);
  return { text, root: grey(root), dim: grey(dim), found, narrow: narrow.map(grey) };
}

/** Returns the colour of an owner for all of its code. */
export function ownerColour(owner: Owner, dark: boolean): string {
  return byOwner(owner, 0.5, dark);
}

function byOwner(owner: Owner, at: number, dark: boolean): string {
  switch (owner) {
    case 'app':
      return fill(dark, 0.105, 235 + at * 35, at);
    case 'package':
      return fill(dark, 0.045, 130 + at * 70, at);
    case 'script':
      return fill(dark, 0.075, 65 + at * 25, at);
    case 'browser':
      return fill(dark, 0.006, 260, at);
    case 'profiler':
      return fill(dark, 0.06, 15, at);
  }
}

/**
 * Returns a fill. From 0 to 1, it becomes a little darker in the light theme and lighter in the
 * dark theme.
 */
function fill(dark: boolean, chroma: number, hue: number, at: number): string {
  return dark ? oklch(0.37 + at * 0.07, chroma * 0.9, hue) : oklch(0.88 - at * 0.07, chroma, hue);
}

/** Returns the colour of a self time, from 0 (none) to 1 (the largest). */
export function selfColour(part: number, dark: boolean): string {
  return dark ? oklch(0.28 + part * 0.2, 0.01 + part * 0.1, 55) : oklch(0.94 - part * 0.17, 0.01 + part * 0.13, 65);
}

/** Returns the colour of a change from -1 through 0 to 1: blue is faster, orange is slower. */
export function changeColour(part: number, dark: boolean): string {
  const size = Math.abs(part);
  const hue = part > 0 ? 55 : 250;
  return dark ? oklch(0.29 + size * 0.19, size * 0.115, hue) : oklch(0.94 - size * 0.19, size * 0.135, hue);
}

/** Returns the fill of each node. */
export function coloursOf(tree: Tree, colouring: Colouring, dark: boolean): (node: number) => string {
  const { root } = paletteOf(dark);
  if (colouring == 'owner' || colouring == 'file') {
    const of = colouring == 'owner' ? ownerFill : fileFill;
    const colours: string[] = []; // by frame, computed on first use
    return (node) => (node == 0 ? root : (colours[tree.frame[node]!] ??= of(tree.frames[tree.frame[node]!]!, dark)));
  }
  // The square root makes small values distinguishable. There are few steps, so that a canvas
  // parses few colours.
  const steps = 24;
  const scale = Array.from({ length: 2 * steps + 1 }, (_, i) =>
    colouring == 'self' ? selfColour(Math.max(0, i / steps - 1), dark) : changeColour(i / steps - 1, dark),
  );
  const value = colouring == 'self' ? (node: number) => tree.self[node]! : (node: number) => changeOf(tree, node);
  let most = 1e-9;
  for (let node = 1; node < tree.frame.length; node++) most = Math.max(most, Math.abs(value(node)));
  return (node) => {
    if (node == 0) return root;
    const part = value(node) / most;
    return scale[steps + Math.round(Math.sign(part) * Math.sqrt(Math.abs(part)) * steps)]!;
  };
}

const ownerFill = (frame: Frame, dark: boolean) => byOwner(ownerOf(frame), scatter(groupOf(frame)), dark);

function fileFill(frame: Frame, dark: boolean): string {
  if (frame.resource == '') return byOwner('browser', scatter(frame.name), dark);
  return fill(dark, 0.09, scatter(frame.resource) * 360, scatter(`${frame.resource} `));
}

/** Returns the change of a node's total time against the base, in ms per page view. */
export function changeOf(tree: Tree, node: number): number {
  const before = (tree.baseTotal?.[node] ?? 0) / Math.max(1, tree.baseViews);
  return (tree.total[node]! / Math.max(1, tree.views) - before) / 1000;
}

/** Returns the largest absolute change of a node other than the root, in ms per page view. */
export function largestChange(tree: Tree): number {
  let most = 0;
  for (let node = 1; node < tree.frame.length; node++) most = Math.max(most, Math.abs(changeOf(tree, node)));
  return most;
}

/** Returns a number from 0 to 1 that depends only on a text. */
function scatter(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/**
 * Converts an OKLCH colour to #rrggbb, with less chroma if the colour is outside sRGB:
 * https://www.w3.org/TR/css-color-4/#ok-lab. Hues are in degrees.
 */
export function oklch(lightness: number, chroma: number, hue: number): string {
  for (let c = chroma; ; c = Math.max(0, c - 0.004)) {
    const rgb = linear(lightness, c * Math.cos((hue * Math.PI) / 180), c * Math.sin((hue * Math.PI) / 180));
    if (c > 0 && rgb.some((part) => part < -1e-4 || part > 1 + 1e-4)) continue;
    return `#${rgb
      .map((part) =>
        Math.round(gamma(part) * 255)
          .toString(16)
          .padStart(2, '0'),
      )
      .join('')}`;
  }
}

/** Converts OKLab to linear sRGB. */
function linear(lightness: number, a: number, b: number): number[] {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
}

const gamma = (part: number) => {
  const within = Math.min(1, Math.max(0, part));
  return within <= 0.0031308 ? 12.92 * within : 1.055 * within ** (1 / 2.4) - 0.055;
};
