// The zoomed node, which is as wide as the picture, and its history.

import { useMemo, useRef, useState } from 'preact/hooks';
import { keyAt, nodeWith } from '../tree/key.ts';
import type { Tree } from '../tree/tree.ts';
import { useSetting } from './setting.ts';

/** The zoom. */
export interface Zoom {
  node: number;
  /** Zooms to a node; 0 is the root. */
  to(node: number): void;
  /** Returns to the previous zoom, or to the root. */
  back(): void;
}

/** Holds the key of the zoomed node, so that the zoom persists when the tree changes. */
export function useZoom(tree: Tree, given: string | undefined, tell?: (key: string) => void): Zoom {
  const [key, setKey] = useSetting(given, '', tell);
  const known = useRef({ tree, key: '', node: 0 }); // finding a key takes time proportional to the tree
  const way = useRef<string[]>([]);
  const node = useMemo(() => {
    const { current } = known;
    if (key == '') return 0;
    return current.tree == tree && current.key == key ? current.node : nodeWith(tree, key);
  }, [tree, key]);
  return {
    node,
    to: (next) => {
      if (next == node) return;
      way.current.push(key);
      known.current = { tree, key: keyAt(tree, next), node: next };
      setKey(known.current.key);
    },
    back: () => {
      if (key != '') setKey(way.current.pop() ?? '');
    },
  };
}

/** Holds the selected node, which remains selected when the tree changes, if it still exists. */
export function useSelection(tree: Tree): [node: number, select: (node: number) => void] {
  const [selection, setSelection] = useState({ tree, node: 0 });
  const node = useMemo(() => {
    if (selection.tree == tree || selection.node == 0) return selection.node;
    return nodeWith(tree, keyAt(selection.tree, selection.node));
  }, [tree, selection]);
  return [node, (next) => setSelection({ tree, node: next })];
}
