// Actions for a call of a page view.

import { copy } from '../flame/actions.ts';
import { stackText, type FlameAction } from '../flame/Menu.tsx';
import type { Zoom } from '../flame/zoom.ts';
import type { Frame, Tree } from '../tree/tree.ts';
import { exactly } from './search.ts';

/** Callbacks of a page view. */
interface Told {
  onFunction?(frame: Frame): void;
  onSearch(text: string): void;
}

/** Returns the actions for a call. */
export function actionsOf(tree: Tree, node: number, zoom: Zoom, { onFunction, onSearch }: Told): FlameAction[] {
  const { name } = tree.frames[tree.frame[node]!]!;
  return [
    { label: 'Zoom', keys: 'Enter', run: () => zoom.to(node) },
    ...(onFunction ? [{ label: 'Open the function', keys: 'c', run: (frame: Frame) => onFunction(frame) }] : []),
    ...(name ? [{ label: 'Find all its calls', run: () => onSearch(exactly(name)) }] : []),
    { label: 'Copy name', run: () => copy(name || '(anonymous)') },
    { label: 'Copy stack', run: () => copy(stackText(tree, node)) },
  ];
}
