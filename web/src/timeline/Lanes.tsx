// The axis, and lanes for what was at work beside the calls. Bars have their places by CSS, so that a move changes two numbers
// of a style, and no bar is drawn again.

import { useMemo } from 'preact/hooks';
import type { Range } from '../flame/range.ts';
import { fixed, shown } from '../tree/format.ts';
import { momentText, ticksOf, type Tick } from './axis.ts';
import type { Bar, Lane } from './lanes.ts';

/** What of the time is seen, for the style of what has its places by CSS. width is in CSS pixels. */
export function placing({ from, to }: Range, width: number): Record<string, string> {
  return { '--from': String(from), '--scale': `${width / (to - from)}px` };
}

/** Where something is that lasts from one time to another, in µs, within what has `placing`. It ends near the edges. */
function placeOf(start: number, end: number) {
  return {
    left: `max(-4px, (${start} - var(--from)) * var(--scale))`,
    right: `max(-4px, 100% - (${end} - var(--from)) * var(--scale))`,
  };
}

/** How long a task is at least to be a long one, in µs: https://w3c.github.io/longtasks/. */
export const longTask = 50_000;

/** Returns the ticks of a range for a picture of some CSS pixels. */
export function useTicks(range: Range, width: number): Tick[] {
  return useMemo(() => (width > 0 ? ticksOf(range, Math.max(2, width / 110)) : []), [range, width]);
}

/** The times at the top. */
export function Axis({ ticks }: { ticks: readonly Tick[] }) {
  return (
    <div class="time-axis" aria-hidden="true">
      {ticks.map(({ at, text }) => (
        <span key={at} style={{ left: `calc((${at} - var(--from)) * var(--scale))` }}>
          {text}
        </span>
      ))}
    </div>
  );
}

interface LanesProps {
  lanes: readonly Lane[];
  /** A bar was pressed. */
  onZoom(bar: Bar): void;
  /** A bar has the focus: it is to be seen. */
  onShow(bar: Bar): void;
}

/** All lanes. */
export function Lanes({ lanes, ...told }: LanesProps) {
  return (
    <div class="time-lanes" data-steady>
      {lanes.map((lane) => (
        <OneLane key={lane.key} lane={lane} {...told} />
      ))}
    </div>
  );
}

/** A lane: one stop for the tab key, arrows go from bar to bar. */
function OneLane({ lane, onZoom, onShow }: Omit<LanesProps, 'lanes'> & { lane: Lane }) {
  const task = lane.key == 'task';
  return (
    <div class={`time-lane time-${lane.key.split(' ')[0]!}`} role="group" aria-label={titleOf(lane)}>
      <p class="time-title">
        <bdi title={lane.title}>{shown(lane.title, 40)}</bdi> {lane.more > 0 && <small>{lane.more} shorter ones are left out</small>}
      </p>
      <div class="time-bars" style={{ height: `${lane.rows * 19}px` }} onKeyDown={step}>
        {task && lane.bars.map((bar, i) => <div key={i} class="time-over" style={{ ...placeOf(bar.start + longTask, bar.end), top: `${bar.row * 19}px` }} />)}
        {lane.bars.map((bar, i) => (
          <button
            key={i}
            type="button"
            class="time-bar"
            tabIndex={i == 0 ? 0 : -1}
            title={textOf(lane, bar)}
            aria-label={textOf(lane, bar)}
            style={{ ...placeOf(bar.start, bar.end), top: `${bar.row * 19}px` }}
            onClick={() => onZoom(bar)}
            onFocus={(event) => event.currentTarget.matches(':focus-visible') && onShow(bar)}
          >
            <bdi>{task ? shortly(bar) : shown(bar.name, 80)}</bdi>
          </button>
        ))}
      </div>
    </div>
  );
}

const titleOf = ({ key, title, bars }: Lane) => `${shown(title, 40)}: ${bars.length}${key == 'task' ? ' of 50 ms and more' : ''}`;

const shortly = ({ start, end }: Bar) => `${fixed((end - start) / 1000, 0)} ms`;

const lasting = ({ start, end }: Bar) => momentText(end - start);

function textOf(lane: Lane, bar: Bar): string {
  if (lane.key == 'task') return `${shortly(bar)}: long task from ${momentText(bar.start)} to ${momentText(bar.end)}`;
  const name = shown(bar.name, 80) || '(none)';
  return `${name}, ${lasting(bar)}, from ${momentText(bar.start)} on`;
}

/** Arrows go to the bar beside. */
function step(event: KeyboardEvent & { currentTarget: HTMLElement }): void {
  const bars = [...event.currentTarget.querySelectorAll('button')];
  const at = bars.indexOf(event.target as HTMLButtonElement);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: bars.length - 1 }[event.key];
  if (at < 0 || to == undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  bars[Math.max(0, Math.min(bars.length - 1, to))]!.focus({ preventScroll: true });
}

interface BehindProps {
  ticks: readonly Tick[];
  /** Stretches without samples, in µs. */
  unsampled: readonly { start_us: number; end_us: number }[];
}

/** What is behind the calls: lines at the ticks, and hatching where there are no samples. */
export function Behind({ ticks, unsampled }: BehindProps) {
  const hatched = useMemo(
    () =>
      unsampled.map(({ start_us, end_us }) => (
        <div key={start_us} class="time-unsampled" style={placeOf(start_us, end_us)}>
          not sampled
        </div>
      )),
    [unsampled],
  );
  return (
    <div class="time-behind" aria-hidden="true">
      {hatched}
      {ticks.map(({ at }) => (
        <i key={at} style={{ left: `calc((${at} - var(--from)) * var(--scale))` }} />
      ))}
    </div>
  );
}
