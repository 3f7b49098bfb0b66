// A flame graph whose zoomed node fills its width until the range is moved.

import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { Graph, type GraphProps } from './Graph.tsx';
import type { Tree } from '../tree/tree.ts';
import type { Layout } from './layout.ts';
import { rangeOf, type Range } from './range.ts';

type Props = Omit<GraphProps, 'range' | 'onRange'>;

/** A graph that keeps its visible range. */
export function ZoomedGraph(props: Props) {
  const [range, setRange, own] = useRange(props);
  const { tree, layout, zoom } = props;
  const seen = useMemo(
    () => (own || !zoom.node ? layout : above(tree, layout, zoom.node)),
    [own, tree, layout, zoom.node],
  );
  return <Graph {...props} layout={seen} range={range} onRange={setRange} />;
}

/** Returns a layout without the levels below a node's subtree, which would be empty. */
function above(tree: Tree, layout: Layout, node: number): Layout {
  let last = tree.level[node]!;
  for (let next = node + 1; next < tree.level.length && tree.level[next]! > tree.level[node]!; next++) {
    if (layout.width[next]! > 0) last = Math.max(last, tree.level[next]!);
  }
  return { ...layout, levels: layout.levels.slice(0, last + 1) };
}

/**
 * Holds the visible range: the zoomed node, or the range that own holds after a move. Selecting a
 * node outside it makes its caller visible.
 */
function useRange({ tree, layout, zoom, selected }: Props): [range: Range, set: (range: Range) => void, own: boolean] {
  const [own, setOwn] = useState<{ layout: Layout; zoomed: number; range: Range }>();
  const moved = own?.layout == layout && own.zoomed == zoom.node;
  const range = useMemo(() => (moved ? own.range : rangeOf(layout, zoom.node)), [own, layout, zoom.node]);
  const set = (next: Range) => setOwn({ layout, zoomed: zoom.node, range: next });
  useLayoutEffect(() => {
    const { from, to } = rangeOf(layout, selected);
    if (to <= range.from || from >= range.to) set(rangeOf(layout, Math.max(0, tree.parent[selected]!)));
  }, [selected]);
  return [range, set, moved];
}
