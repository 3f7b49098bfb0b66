// Which node is as wide as the picture, and the way back from it.

import { useMemo, useRef, useState } from 'preact/hooks';
import { keyAt, nodeWith } from '../tree/key.ts';
import type { Tree } from '../tree/tree.ts';
import { useSetting } from './setting.ts';

/** What is zoomed. */
export interface Zoom {
  node: number;
  /** Makes a node as wide as the picture; 0 is all. */
  to(node: number): void;
  /** Goes back to what was zoomed before, to all if nothing was. */
  back(): void;
}

/** Holds what is zoomed by its key, so that it stays when the tree changes. */
export function useZoom(tree: Tree, given: string | undefined, tell?: (key: string) => void): Zoom {
  const [key, setKey] = useSetting(given, '', tell);
  const known = useRef({ tree, key: '', node: 0 }); // looking for a key takes as long as the tree is large
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

/** Holds the node that is selected, which stays so when the tree changes, if it is still there. */
export function useSelection(tree: Tree): [node: number, select: (node: number) => void] {
  const [selection, setSelection] = useState({ tree, node: 0 });
  const node = useMemo(() => {
    if (selection.tree == tree || selection.node == 0) return selection.node;
    return nodeWith(tree, keyAt(selection.tree, selection.node));
  }, [tree, selection]);
  return [node, (next) => setSelection({ tree, node: next })];
}
