// Actions for a call in a flame graph.

import { keyOf } from '../tree/key.ts';
import { isOther, keyOfOther } from '../tree/other.ts';
import type { Shape } from '../tree/shape.ts';
import type { Frame, Tree } from '../tree/tree.ts';
import { stackText, type FlameAction } from './Menu.tsx';
import type { Zoom } from './zoom.ts';

/** The state that actions change. */
interface Changed {
  tree: Tree;
  shape: Shape;
  setShape(shape: Shape): void;
  zoom: Zoom;
}

/** Actions of the page. */
interface OfPage {
  onOpenOther?(key: string): void;
  onSandwich?(frame: Frame): void;
  actions?: readonly FlameAction[];
}

/** Returns the actions for a call: first the actions of every flame graph, then the page's. */
export function actionsOf(
  { tree, shape, setShape, zoom }: Changed,
  { onOpenOther, onSandwich, actions = [] }: OfPage,
  node: number,
): FlameAction[] {
  const frame = tree.frames[tree.frame[node]!]!;
  const key = keyOf([frame]);
  const copyStack: FlameAction = { label: 'Copy stack', run: () => copy(stackText(tree, node)) };
  const zoomIn: FlameAction = { label: 'Zoom', keys: 'Enter', run: () => zoom.to(node) };
  if (isOther(frame)) {
    const other = keyOfOther(tree, node);
    const open: FlameAction = { label: 'Show its calls', keys: 'Enter', run: () => onOpenOther?.(other) };
    return other && onOpenOther ? [open, copyStack] : [zoomIn, copyStack];
  }
  return [
    zoomIn,
    ...(onSandwich ? [{ label: 'Callers and callees', keys: 'c', run: onSandwich }] : []),
    { label: 'Focus on this function', run: () => setShape({ ...shape, focused: [key] }) },
    { label: 'Hide this function', run: () => setShape({ ...shape, hidden: [...shape.hidden, key] }) },
    {
      label: shape.merged ? 'Show recursion' : 'Merge recursion',
      run: () => setShape({ ...shape, merged: !shape.merged }),
    },
    { label: 'Copy name', run: () => copy(frame.name || '(anonymous)') },
    copyStack,
    ...actions,
  ];
}

/** Copies a text to the clipboard. It does nothing without a clipboard, as on insecure pages. */
export function copy(text: string): void {
  void navigator.clipboard?.writeText(text).catch(() => {});
}
