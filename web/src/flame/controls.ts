// Controls of flame graphs and timelines: search, matches, the menu and the list of keys.

import { useMemo, useRef, useState } from 'preact/hooks';
import { find, nextMatch, searchOf, type Found, type Search } from '../tree/search.ts';
import type { Tree } from '../tree/tree.ts';

/**
 * Returns a search for a text and its matches; both are absent if the text is empty or an invalid
 * expression.
 */
export function useSearch(tree: Tree, text: string): { search: Search; found: Found | undefined } {
  const search = useMemo(() => searchOf(text), [text]);
  const found = useMemo(() => (text && !search.problem ? find(tree, search) : undefined), [tree, text, search]);
  return { search, found };
}

/** A call with an open menu, and its position on the screen in CSS pixels. */
interface MenuAt {
  node: number;
  x: number;
  y: number;
}

/** Holds the menu and the list of keys, and the elements that get the focus back. */
export function useControls(found: Found | undefined, selected: number, select: (node: number) => void) {
  const input = useRef<HTMLInputElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [menu, setMenu] = useState<MenuAt>();
  const [keys, showKeys] = useState(false);
  return {
    input,
    canvas,
    menu,
    setMenu,
    keys,
    showKeys,
    /** Moves the focus back to the picture, or to the search if there is none. */
    leave: () => (canvas.current ?? input.current)?.focus(),
    /** Selects the next match, or the previous one. */
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
