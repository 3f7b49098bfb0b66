// Controls of flame graphs and timelines: search, matches, the menu and the list of keys.

import { useMemo, useRef, useState } from 'preact/hooks';
import { find, nextMatch, searchOf, type Found, type Search } from '../tree/search.ts';
import type { Tree } from '../tree/tree.ts';

/** Returns what a text searches for, and what it finds; nothing if the text is empty or no expression. */
export function useSearch(tree: Tree, text: string): { search: Search; found: Found | undefined } {
  const search = useMemo(() => searchOf(text), [text]);
  const found = useMemo(() => (text && !search.problem ? find(tree, search) : undefined), [tree, text, search]);
  return { search, found };
}

/** A call whose menu is open, and where on the screen, in CSS pixels. */
interface MenuAt {
  node: number;
  x: number;
  y: number;
}

/** Holds the menu and the list of keys, and what leads to them and to the search. */
export function useControls(found: Found | undefined, selected: number, select: (node: number) => void) {
  const input = useRef<HTMLInputElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [menu, setMenu] = useState<MenuAt>();
  const [keys, showKeys] = useState(false);
  return {
    input, canvas, menu, setMenu, keys, showKeys,
    /** Gives the focus back to the picture, or to the search if there is none. */
    leave: () => (canvas.current ?? input.current)?.focus(),
    /** Selects the next match, or the one before. */
    step: (forward: boolean) => {
      const node = found ? nextMatch(found, selected, forward) : -1;
      if (node >= 0) select(node);
    },
    press: (event: KeyboardEvent) => {
      if (event.target instanceof HTMLInputElement || event.metaKey || event.ctrlKey || event.altKey) return;
      if (event.key == '/') input.current?.focus();
      else if (event.key == '?') showKeys(true);
      else return;
      event.preventDefault();
    },
  };
}
