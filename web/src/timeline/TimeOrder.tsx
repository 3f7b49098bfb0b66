// A page view in chronological order: lanes, calls, and the calls as rows. Calls are drawn like a
// flame graph in which each call has its own position in time.

import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useControls, useSearch } from '../flame/controls.ts';
import { Graph } from '../flame/Graph.tsx';
import { KeysDialog } from '../flame/KeysDialog.tsx';
import { Legend } from '../flame/Legend.tsx';
import { Menu } from '../flame/Menu.tsx';
import { numbersOf } from '../flame/numbers.ts';
import { rangeOf, scaled, showing, type Range } from '../flame/range.ts';
import { SearchBox } from '../flame/SearchBox.tsx';
import { useDark } from '../flame/theme.ts';
import { Tools, type View } from '../flame/Tools.tsx';
import { Treegrid } from '../flame/Treegrid.tsx';
import type { Zoom } from '../flame/zoom.ts';
import type { Stretch } from '../api/types.ts';
import type { Colouring } from '../tree/colour.ts';
import { count, nameOf } from '../tree/format.ts';
import type { Frame } from '../tree/tree.ts';
import { actionsOf } from './actions.ts';
import { momentText } from './axis.ts';
import { timeKeys } from './keys.ts';
import { Axis, Behind, Lanes, useTicks } from './Lanes.tsx';
import type { Lane } from './lanes.ts';
import { Minimap } from './Minimap.tsx';
import { useStretch } from './stretch.ts';
import { nodeFrom, type Timeline } from './timeline.ts';

/** Properties of a time order. The page controls its state. */
export interface TimeOrderProps {
  timeline: Timeline;
  lanes: readonly Lane[];
  tasks: readonly Stretch[];
  unsampled: readonly Stretch[];
  /** The subject for screen readers: 'a page view of /feed'. */
  label: string;
  colouring: Colouring;
  onColouring(colouring: Colouring): void;
  view: View;
  onView(view: View): void;
  search: string;
  onSearch(text: string): void;
  /**
   * The visible range in the form of `textOfRange`; '' is all. replace: the range was only moved.
   */
  range: string;
  onRange(text: string, replace: boolean): void;
  /** Shows the page of a function; if absent, there is no action for it. */
  onFunction?(frame: Frame): void;
}

/** Draws a page view in chronological order, with navigation by pointer, touch and keys. */
export function TimeOrder(props: TimeOrderProps) {
  const time = useTimeOrder(props);
  const { tree, layout, numbers, found, search, selected, select, seen, zoom, dark } = time;
  const { view, colouring, label } = props;
  const { input, canvas, menu, setMenu, keys, showKeys, leave, step, press } = useControls(found, selected, select);
  const open = (node: number) => {
    const frame = tree.frames[tree.frame[node]!];
    if (frame) props.onFunction?.(frame);
  };
  const all = layout.width[0]!;
  const closer = (factor: number) => seen.move(scaled(seen.range, (seen.range.from + seen.range.to) / 2, factor, all));
  const rows = useMemo(
    () => (
      <Treegrid
        {...{ tree, numbers, found, selected, label }}
        zoomed={zoom.node}
        onSelect={select}
        onActivate={zoom.to}
      />
    ),
    [tree, numbers, found, selected, zoom.node],
  );
  const frame = menu && tree.frames[tree.frame[menu.node]!];
  return (
    <div class="flame time" onKeyDown={press}>
      <div class="flame-tools">
        <SearchBox
          {...{ label, search, found, numbers, input }}
          text={props.search}
          onText={props.onSearch}
          onStep={step}
          onLeave={leave}
        />
        <Tools
          {...{ colouring, view }}
          compared={false}
          setColouring={props.onColouring}
          setView={props.onView}
          onKeys={() => showKeys(true)}
        >
          {view != 'rows' && (
            <Closer onCloser={closer} onAll={() => seen.to(undefined)} whole={seen.range.to - seen.range.from >= all} />
          )}
        </Tools>
      </div>
      <Minimap timeline={props.timeline} tasks={props.tasks} dark={dark} range={seen.range} onRange={seen.move} />
      <div class={`flame-views flame-view-${view}`}>
        {view != 'rows' && (
          <Picture
            {...props}
            time={time}
            canvas={canvas}
            onStep={step}
            onMenu={(node, x, y) => setMenu({ node, x, y })}
            onSandwich={open}
          />
        )}
        {view != 'graph' && rows}
      </div>
      <p class="flame-unseen" role="status">
        {selected > 0 ? spoken(time, selected) : label}
      </p>
      {view != 'rows' && <Legend {...{ tree, colouring, dark }} />}
      {menu && frame && (
        <Menu
          {...menu}
          frame={frame}
          actions={actionsOf(tree, menu.node, zoom, props)}
          onClose={() => (setMenu(undefined), leave())}
        />
      )}
      {keys && <KeysDialog of="timeline" keys={timeKeys} onClose={() => (showKeys(false), leave())} />}
    </div>
  );
}

type TimeState = ReturnType<typeof useTimeOrder>;

/** Holds the selected call and the visible range. */
function useTimeOrder({ timeline, search: text, range: given, onRange }: TimeOrderProps) {
  const { tree, layout } = timeline;
  const all = layout.width[0]!;
  const dark = useDark();
  const { search, found } = useSearch(tree, text);
  const numbers = useMemo(
    () => ({ ...numbersOf(tree, 'ms'), start: (node: number) => momentText(layout.start[node]!) }),
    [timeline],
  );
  const seen = useStretch(given, all, onRange);
  const [selected, setSelected] = useState(0);
  const zoomed = useMemo(() => nodeFrom(timeline, seen.range.from, seen.range.to), [timeline, seen.range]);
  const latest = useRef(seen);
  latest.current = seen;
  const show = useCallback(
    (range: Range) => {
      const { current } = latest;
      const next = showing(current.range, range, all);
      if (next != current.range) current.move(next);
    },
    [all],
  );
  const goTo = useCallback((range: Range | undefined) => latest.current.to(range), []);
  const select = useCallback(
    (node: number) => {
      setSelected(node);
      if (node > 0) show(rangeOf(layout, node));
    },
    [layout, show],
  );
  useLayoutEffect(() => setSelected(0), [timeline]);
  const zoom: Zoom = {
    node: zoomed,
    to: (node) => {
      setSelected(node);
      goTo(node > 0 ? rangeOf(layout, node) : undefined);
    },
    back: seen.back,
  };
  return {
    tree,
    layout,
    numbers,
    search,
    found,
    selected: Math.min(selected, tree.frame.length - 1),
    select,
    seen,
    goTo,
    zoom,
    dark,
  };
}

interface PictureProps extends TimeOrderProps {
  time: TimeState;
  canvas: { current: HTMLCanvasElement | null };
  onStep(forward: boolean): void;
  onMenu(node: number, x: number, y: number): void;
  onSandwich(node: number): void;
}

/** The axis, the lanes and the calls. */
function Picture({ time, lanes, unsampled, colouring, label, canvas, onStep, onMenu, onSandwich }: PictureProps) {
  const { tree, layout, numbers, found, selected, select, seen, goTo, zoom, dark } = time;
  const [width, setWidth] = useState(0);
  const part = { range: seen.range, width };
  const ticks = useTicks(part);
  const gaps = useMemo(
    () => unsampled.map(({ start_us, end_us }) => ({ name: '', start: start_us, end: end_us, row: 0 })),
    [unsampled],
  );
  const above = (
    <div class="time-above" style={{ paddingInlineEnd: width ? `calc(100% - 2px - ${width}px)` : 0 }}>
      <Axis {...{ ticks, part }} />
      {width > 0 && <Lanes {...{ lanes, part }} onZoom={goTo} />}
    </div>
  );
  return (
    <Graph
      {...{
        tree,
        layout,
        numbers,
        found,
        selected,
        select,
        zoom,
        colouring,
        dark,
        canvas,
        above,
        onStep,
        onMenu,
        onSandwich,
      }}
      range={seen.range}
      onRange={seen.move}
      upwards={false}
      title="all calls"
      label={
        `Timeline of ${label}, ${count(tree.frame.length - 1)} calls. Arrow keys move between calls, Enter ` +
        `zooms, question mark lists all keys.`
      }
      kind="timeline"
      onActivate={zoom.to}
      under={<Behind {...{ ticks, part }} unsampled={gaps} />}
      onWidth={setWidth}
    />
  );
}

/** Zoom buttons, for users without a wheel or keys. */
function Closer({ whole, onCloser, onAll }: { whole: boolean; onCloser(factor: number): void; onAll(): void }) {
  return (
    <div class="flame-segments" role="group" aria-label="Zoom">
      <button type="button" aria-label="Zoom out" disabled={whole} onClick={() => onCloser(2)}>
        −
      </button>
      <button type="button" disabled={whole} onClick={onAll}>
        All
      </button>
      <button type="button" aria-label="Zoom in" onClick={() => onCloser(0.5)}>
        +
      </button>
    </div>
  );
}

function spoken({ tree, numbers }: TimeState, node: number): string {
  const name = nameOf(tree.frames[tree.frame[node]!]!, 120);
  return `${name}: starting at ${numbers.start(node)}, ${numbers.total(node)}, self ${numbers.self(node)}`;
}
