// The axis, and lanes next to the calls.

import { useMemo } from 'preact/hooks';
import type { Range } from '../flame/range.ts';
import { count, fixed, shown } from '../tree/format.ts';
import { momentText, ticksOf, type Tick } from './axis.ts';
import { marksOf, type Bar, type Lane, type Mark } from './lanes.ts';

/** Minimum duration of a long task, in µs: https://w3c.github.io/longtasks/. */
const longTask = 50_000;

/** The height of a row of bars, and the minimum width of bars with a text, in CSS pixels. */
const rowHeight = 19;
const leastNamed = 22;

/** The visible range and its width in CSS pixels. */
export interface Part {
  range: Range;
  width: number;
}

const placeIn = ({ range, width }: Part, at: number) => ((at - range.from) * width) / (range.to - range.from);

/** Returns the ticks of the visible range. */
export function useTicks({ range, width }: Part): Tick[] {
  return useMemo(() => (width > 0 ? ticksOf(range, Math.max(2, width / 110)) : []), [range, width]);
}

/** The axis at the top. */
export function Axis({ ticks, part }: { ticks: readonly Tick[]; part: Part }) {
  return (
    <div class="time-axis" aria-hidden="true">
      {ticks.map(({ at, text }) => (
        <span key={at} style={{ left: `${placeIn(part, at)}px` }}>
          {text}
        </span>
      ))}
    </div>
  );
}

interface LanesProps {
  lanes: readonly Lane[];
  part: Part;
  /** A mark was pressed. */
  onZoom(range: Range): void;
}

export function Lanes({ lanes, ...rest }: LanesProps) {
  return (
    <div class="time-lanes" data-steady>
      {lanes.map((lane) => (
        <OneLane key={lane.key} lane={lane} {...rest} />
      ))}
    </div>
  );
}

/** A lane with one tab stop. Arrow keys move between its visible marks. */
function OneLane({ lane, part, onZoom }: Omit<LanesProps, 'lanes'> & { lane: Lane }) {
  const { key, title, bars, rows, more } = lane;
  const marks = useMemo(() => marksOf(bars, part.range, part.width), [bars, part.range, part.width]);
  const task = key == 'task';
  return (
    <div
      class={`time-lane time-${key.split(' ')[0]!}`}
      role="group"
      aria-label={`${shown(title, 40)}: ${count(bars.length)}`}
    >
      <p class="time-title">
        <bdi title={shown(title)}>{shown(title, 40)}</bdi>{' '}
        {more > 0 && <small>{count(more)} shorter ones are hidden</small>}
      </p>
      <div class="time-bars" style={{ height: `${rows * rowHeight}px` }} onKeyDown={step}>
        {marks.map((mark, i) => (
          <button
            key={`${mark.bar.start} ${mark.bar.row}`}
            type="button"
            class={mark.bars > 1 ? 'time-bar time-several' : 'time-bar'}
            tabIndex={i == 0 ? 0 : -1}
            title={textOf(lane, mark)}
            aria-label={textOf(lane, mark)}
            style={{ left: `${mark.left}px`, width: `${mark.width}px`, top: `${mark.bar.row * rowHeight}px` }}
            onClick={() => onZoom({ from: mark.bar.start, to: Math.max(mark.end, mark.bar.start + 1) })}
          >
            {task && mark.bars == 1 && mark.width >= leastNamed && (
              <i style={{ left: `${Math.max(0, placeIn(part, mark.bar.start + longTask) - mark.left)}px` }} />
            )}
            {mark.bars == 1 && mark.width >= leastNamed && (
              <bdi>{task ? shortly(mark.bar) : shown(mark.bar.name, 80)}</bdi>
            )}
          </button>
        ))}
      </div>
    </div>
  );
}

const shortly = ({ start, end }: Bar) => `${fixed((end - start) / 1000, 0)} ms`;

function textOf({ key, title }: Lane, { bar, bars, end }: Mark): string {
  const from = momentText(bar.start);
  if (bars > 1) return `${count(bars)} of ${shown(title, 40)}, from ${from} to ${momentText(end)}`;
  if (key == 'task') return `${shortly(bar)}: long task from ${from} to ${momentText(bar.end)}`;
  return `${shown(bar.name, 80) || '(none)'}, ${momentText(bar.end - bar.start)}, starting at ${from}`;
}

/** Moves the focus to the previous or next mark. */
function step(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const marks = [...event.currentTarget.querySelectorAll('button')];
  const at = marks.indexOf(event.target as HTMLButtonElement);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: marks.length - 1 }[event.key];
  if (at < 0 || to == undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  marks[Math.max(0, Math.min(marks.length - 1, to))]!.focus({ preventScroll: true });
}

interface BehindProps {
  ticks: readonly Tick[];
  part: Part;
  /** Periods without samples. */
  unsampled: readonly Bar[];
}

/** The background of the calls: lines at the ticks, and hatching where there are no samples. */
export function Behind({ ticks, part, unsampled }: BehindProps) {
  return (
    <div class="time-behind" aria-hidden="true">
      {marksOf(unsampled, part.range, part.width).map(({ bar, left, width }) => (
        <div key={bar.start} class="time-unsampled" style={{ left: `${left}px`, width: `${width}px` }}>
          not sampled
        </div>
      ))}
      {ticks.map(({ at }) => (
        <i key={at} style={{ left: `${placeIn(part, at)}px` }} />
      ))}
    </div>
  );
}
