// A picture of calls with the details of the pointed call. Pointing redraws only these two.

import type { ComponentChildren, RefObject } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import type { Colouring } from '../tree/colour.ts';
import type { Found } from '../tree/search.ts';
import type { Tree } from '../tree/tree.ts';
import { Chart } from './Chart.tsx';
import { Details } from './Details.tsx';
import { neighbour } from './hit.ts';
import { commandOf, type Command } from './keys.ts';
import type { Layout } from './layout.ts';
import type { Numbers } from './numbers.ts';
import { middleOf, moved, scaled, type Range } from './range.ts';
import type { Zoom } from './zoom.ts';

export interface GraphProps {
  tree: Tree;
  layout: Layout;
  numbers: Numbers;
  /** The visible part of the layout. */
  range: Range;
  onRange(range: Range): void;
  zoom: Zoom;
  selected: number;
  select(node: number): void;
  found?: Found;
  colouring: Colouring;
  dark: boolean;
  upwards: boolean;
  /** The names of the root, of the graph and of its kind. */
  title: string;
  label: string;
  kind?: string;
  canvas: RefObject<HTMLCanvasElement | null>;
  onActivate(node: number): void;
  onSandwich(node: number): void;
  /** Opens the menu of a call at a position on the screen, in CSS pixels. */
  onMenu(node: number, x: number, y: number): void;
  /** Goes to the next or previous match. */
  onStep(forward: boolean): void;
  /** Contents between the details and the picture, and below the calls. */
  above?: ComponentChildren;
  under?: ComponentChildren;
  onWidth?(width: number): void;
}

export function Graph(props: GraphProps) {
  const { tree, layout, numbers, range, zoom, selected, select, title, canvas } = props;
  const [hovered, hover] = useState(-1);
  const amount = useCallback(
    (node: number) => (numbers.compared && node > 0 ? numbers.change(node) : numbers.total(node)),
    [numbers],
  );
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
      {props.above}
      <Chart
        {...props}
        {...{ hovered, amount }}
        zoomed={zoom.node}
        onHover={hover}
        onKeyDown={keysOf(props, () => {
          const box = canvas.current!.getBoundingClientRect();
          const scale = box.width / (range.to - range.from);
          return {
            x: box.left + Math.max(0, (layout.start[selected]! - range.from) * scale),
            y: box.top + box.height / 3,
          };
        })}
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
          zoom.back(); // undoes the first press
          props.onSandwich(selected);
        }}
      />
    </div>
  );
}

/** Returns the handler of keys. placeOf returns the position of the selected node on the screen. */
function keysOf(props: GraphProps, placeOf: () => { x: number; y: number }): (event: KeyboardEvent) => void {
  const { tree, layout, range, onRange, zoom, selected, select } = props;
  const all = layout.width[0]!;
  const run: Record<Exclude<Command, 'search' | 'keys'>, () => void> = {
    caller: () => select(neighbour(tree, layout, selected, 'caller')),
    callee: () => select(neighbour(tree, layout, selected, 'callee')),
    left: () => select(neighbour(tree, layout, selected, 'left')),
    right: () => select(neighbour(tree, layout, selected, 'right')),
    zoom: () => props.onActivate(selected),
    back: zoom.back,
    all: () => zoom.to(0),
    closer: () => onRange(scaled(range, middleOf(range, layout, selected), 0.7, all)),
    farther: () => onRange(scaled(range, middleOf(range, layout, selected), 1 / 0.7, all)),
    'pan left': () => onRange(moved(range, -0.2, all)),
    'pan right': () => onRange(moved(range, 0.2, all)),
    sandwich: () => props.onSandwich(selected),
    menu: () => selected > 0 && props.onMenu(selected, placeOf().x, placeOf().y),
    next: () => props.onStep(true),
    previous: () => props.onStep(false),
  };
  return (event) => {
    const command = commandOf(event, props.upwards);
    if (!command || command == 'search' || command == 'keys') return;
    event.preventDefault();
    run[command]();
  };
}
