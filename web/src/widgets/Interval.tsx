// A mean with what is known about how far off it may be.

import type { Estimate } from '../api/types.ts';
import { duration } from './numbers.ts';
import { amount, type Scale } from './unit.ts';

/** With fewer page views than these, nothing should be concluded. */
export const minViews = 100;

interface Props {
  of: Estimate;
  scale: Scale;
  /** Page views that it rests on. */
  views: number;
  /** The greatest value beside it, in ms: the bar is as long as its share of that. */
  most?: number;
}

/** A value ± half of its interval, and both as a bar. Greyed if it rests on too few page views. */
export function Interval({ of, scale, views, most }: Props) {
  const few = views < minViews;
  const known = of.high != undefined && of.low != undefined;
  const half = known ? (of.high! - of.low!) / 2 : undefined;
  const text = known ? `95 % interval ${duration(of.low!)} to ${duration(of.high!)}` : 'no interval is known';
  const hint = few ? `too few page views (${views} of ${minViews}); ${text}` : text;
  return (
    <span class={few ? 'interval few' : 'interval'} title={hint}>
      {most ? <Bar of={of} most={most} /> : null}
      <span class="number">{amount(of.value, scale)}</span>
      <span class="half">{half == undefined ? '' : `±${amount(half, scale)}`}</span>
      {few && <span class="hidden"> (too few page views)</span>}
    </span>
  );
}

/** A bar of a value, with its interval as a line. */
function Bar({ of, most }: { of: Estimate; most: number }) {
  const width = 56;
  const x = (value: number) => Math.max(0, Math.min(1, value / most)) * width;
  return (
    <svg class="minibar" width={width} height="10" viewBox={`0 0 ${width} 10`} aria-hidden="true">
      <rect x="0" y="2" height="6" width={Math.max(0.5, x(of.value))} rx="1" />
      {of.high != undefined && of.low != undefined && <path d={`M${x(of.low)} 5H${x(of.high)}`} />}
    </svg>
  );
}
