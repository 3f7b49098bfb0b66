// The picture of a flame graph with the details of the call that is pointed at. Pointing draws these two again, and no more.

import type { RefObject } from 'preact';
import { useCallback, useLayoutEffect, useMemo, useState } from 'preact/hooks';
import { Chart } from './Chart.tsx';
import { Details } from './Details.tsx';
import type { Flame } from './FlameGraph.tsx';
import { neighbour } from './hit.ts';
import { commandOf, type Command } from './keys.ts';
import { moved, rangeOf, scaled, type Range } from './range.ts';

type Props = Flame & {
  label: string;
  canvas: RefObject<HTMLCanvasElement | null>;
  onActivate(node: number): void;
  onSandwich(node: number): void;
  /** Opens the menu of a call at a place of the screen, in CSS pixels. */
  onMenu(node: number, x: number, y: number): void;
  /** Goes to the next match, or the one before. */
  onStep(forward: boolean): void;
};

/** A picture and its details. */
export function Graph(props: Props) {
  const { tree, layout, numbers, zoom, selected, select, upwards, title, canvas } = props;
  const [range, setRange] = useRange(props);
  const [hovered, hover] = useState(-1);
  const amount = useCallback((node: number) => (numbers.compared && node > 0 ? numbers.change(node) : numbers.total(node)), [numbers]);
  const atNode = (node: number) => {
    const box = canvas.current!.getBoundingClientRect();
    const scale = box.width / (range.to - range.from);
    return { x: box.left + Math.max(0, (layout.start[node]! - range.from) * scale), y: box.top + box.height / 3 };
  };
  const run: Record<Exclude<Command, 'search' | 'keys'>, () => void> = {
    caller: () => select(neighbour(tree, layout, selected, 'caller')),
    callee: () => select(neighbour(tree, layout, selected, 'callee')),
    left: () => select(neighbour(tree, layout, selected, 'left')),
    right: () => select(neighbour(tree, layout, selected, 'right')),
    zoom: () => props.onActivate(selected),
    back: zoom.back,
    all: () => zoom.to(0),
    closer: () => setRange(scaled(range, middleOf(range, layout, selected), 0.7, layout.width[0]!)),
    farther: () => setRange(scaled(range, middleOf(range, layout, selected), 1 / 0.7, layout.width[0]!)),
    'pan left': () => setRange(moved(range, -0.2, layout.width[0]!)),
    'pan right': () => setRange(moved(range, 0.2, layout.width[0]!)),
    sandwich: () => props.onSandwich(selected),
    menu: () => selected > 0 && props.onMenu(selected, atNode(selected).x, atNode(selected).y),
    next: () => props.onStep(true),
    previous: () => props.onStep(false),
  };
  const press = (event: KeyboardEvent) => {
    const command = commandOf(event, upwards);
    if (!command || command == 'search' || command == 'keys') return;
    event.preventDefault();
    run[command]();
  };
  return (
    <div class="flame-graph">
      <Details
        {...{ tree, numbers, title }}
        node={hovered > 0 ? hovered : selected}
        zoomed={zoom.node}
        onZoom={zoom.to}
        onMenu={(button) => {
          const box = button.getBoundingClientRect();
          props.onMenu(selected, box.left, box.bottom + 2);
        }}
      />
      <Chart
        {...{ ...props, range, hovered, amount }}
        zoomed={zoom.node}
        onRange={setRange}
        onHover={hover}
        onKeyDown={press}
        onMenu={(node, event) => {
          select(node);
          props.onMenu(node, event.clientX, event.clientY);
        }}
        onPress={(node, event, touch) => {
          const again = node == selected;
          select(node);
          if (event.shiftKey) props.onSandwich(node);
          else if (event.detail < 2 && (!touch || again)) props.onActivate(node);
        }}
        onPressTwice={() => {
          if (selected <= 0) return;
          zoom.back(); // what the first press did
          props.onSandwich(selected);
        }}
      />
    </div>
  );
}

/** Where the middle of a node is, if it is seen, else that of the range. */
function middleOf(range: Range, layout: Flame['layout'], node: number): number {
  const { from, to } = rangeOf(layout, node);
  const middle = (Math.max(from, range.from) + Math.min(to, range.to)) / 2;
  return to > range.from && from < range.to ? middle : (range.from + range.to) / 2;
}

/** Holds which part is seen: what is zoomed, until it is moved. What is selected beside it brings its caller into sight. */
function useRange({ tree, layout, zoom, selected }: Flame): [range: Range, set: (range: Range) => void] {
  const [own, setOwn] = useState<{ layout: Flame['layout']; zoomed: number; range: Range }>();
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
