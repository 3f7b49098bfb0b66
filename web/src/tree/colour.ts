// What colour each function has. Hues are kept apart by blue and orange, which all people tell apart, and by lightness.

import type { Frame, Tree } from './tree.ts';

/** What colours say: whose code it is, its file, its own time, or the change from the other side. */
export type Colouring = 'owner' | 'file' | 'self' | 'change';

/** Colours of the parts of a picture. */
export interface Palette {
  dark: boolean;
}

/** Whose code a frame is, as far as its file tells. */
export type Owner = 'app' | 'package' | 'browser' | 'unmapped';

/** Returns whose code a frame is: docs/owners.md has the rules of the daemon, which knows more. */
export function ownerOf({ name, resource }: Frame): Owner {
  if (resource == '' || (name.startsWith('(') && name.endsWith(')') && !resource)) return 'browser';
  if (/(^|\/)node_modules\//.test(resource) || /^(webpack|\[turbopack\]|vite)\//.test(resource)) return 'package';
  return /^[a-z-]+:/i.test(resource) ? 'unmapped' : 'app';
}

/** The package of a frame, its file otherwise: what has one hue. */
function groupOf({ resource }: Frame): string {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(resource)?.[1] ?? resource;
}

/** A number from 0 to 1 that depends on a text alone. */
function scatter(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) / 2 ** 32;
}

const shade = (dark: boolean, hue: number, saturation: number, step = 0) =>
  `hsl(${hue.toFixed(0)} ${saturation}% ${dark ? 30 + step * 8 : 82 - step * 10}%)`;

function byOwner(frame: Frame, dark: boolean): string {
  const at = scatter(groupOf(frame));
  switch (ownerOf(frame)) {
    case 'app':
      return shade(dark, 205 + at * 30, 75, at);
    case 'package':
      return shade(dark, 150 + at * 40, 22, at);
    case 'unmapped':
      return shade(dark, 38 + at * 14, 60, at);
    default:
      return shade(dark, 220, 6, at);
  }
}

/** Returns a colour for each frame of a tree, and for change for each node. */
export function coloursOf(tree: Tree, colouring: Colouring, { dark }: Palette): (node: number) => string {
  const ofFrame = (colour: (frame: Frame) => string) => {
    const colours = tree.frames.map(colour);
    return (node: number) => colours[tree.frame[node]!]!;
  };
  switch (colouring) {
    case 'owner':
      return ofFrame((frame) => byOwner(frame, dark));
    case 'file':
      return ofFrame((frame) => {
        const at = scatter(frame.resource || frame.name);
        return frame.resource ? shade(dark, at * 360, 45, at) : shade(dark, 220, 6, at);
      });
    case 'self': {
      const most = tree.self.reduce((a, b) => Math.max(a, b), 1);
      return (node) => {
        const share = Math.sqrt(tree.self[node]! / most);
        return `hsl(24 ${Math.round(15 + share * 75)}% ${dark ? Math.round(24 + share * 18) : Math.round(93 - share * 28)}%)`;
      };
    }
    case 'change': {
      let most = 1e-9;
      for (let node = 1; node < tree.frame.length; node++) most = Math.max(most, Math.abs(changeOf(tree, node)));
      return (node) => {
        const change = changeOf(tree, node) / most;
        const size = Math.sqrt(Math.abs(change));
        if (size < 0.05) return dark ? 'hsl(220 6% 26%)' : 'hsl(220 8% 92%)';
        const hue = change > 0 ? 26 : 212;
        return `hsl(${hue} ${Math.round(30 + size * 55)}% ${dark ? Math.round(24 + size * 16) : Math.round(92 - size * 24)}%)`;
      };
    }
  }
}

/** Returns by how many ms per page view a node and what it calls changed. */
export function changeOf(tree: Tree, node: number): number {
  const before = (tree.baseTotal?.[node] ?? 0) / Math.max(1, tree.baseViews);
  return (tree.total[node]! / Math.max(1, tree.views) - before) / 1000;
}
