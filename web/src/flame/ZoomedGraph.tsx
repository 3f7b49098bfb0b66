// The picture of a flame graph: what is zoomed is as wide as it, until that is moved.

import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { Graph, type GraphProps } from './Graph.tsx';
import type { Layout } from './layout.ts';
import { rangeOf, type Range } from './range.ts';

type Props = Omit<GraphProps, 'range' | 'onRange'>;

/** A graph that holds which part of it is seen. */
export function ZoomedGraph(props: Props) {
  const [range, setRange] = useRange(props);
  return <Graph {...props} range={range} onRange={setRange} />;
}

/** Holds which part is seen: what is zoomed, until it is moved. What is selected beside it brings its caller into sight. */
function useRange({ tree, layout, zoom, selected }: Props): [range: Range, set: (range: Range) => void] {
  const [own, setOwn] = useState<{ layout: Layout; zoomed: number; range: Range }>();
  const range = useMemo(
    () => (own?.layout == layout && own.zoomed == zoom.node ? own.range : rangeOf(layout, zoom.node)),
    [own, layout, zoom.node],
  );
  const set = (next: Range) => setOwn({ layout, zoomed: zoom.node, range: next });
  useLayoutEffect(() => {
    const { from, to } = rangeOf(layout, selected);
    if (to <= range.from || from >= range.to) set(rangeOf(layout, Math.max(0, tree.parent[selected]!)));
  }, [selected]);
  return [range, set];
}
