// A mean with its confidence interval.

import type { Estimate } from '../api/types.ts';
import { count, duration } from './numbers.ts';
import { amount, type Scale } from './unit.ts';

/** With fewer page views than this, intervals are wide. */
export const minViews = 100;

interface Props {
  of: Estimate;
  scale: Scale;
  /** Number of page views of the mean. */
  views: number;
  /**
   * The value of the longest bar, in ms. The length of a bar is proportional to it, and a larger
   * value has a bar with an open end.
   */
  most?: number;
}

/**
 * Returns the value of a column's longest bar: the largest value, but at most four times the
 * median, so that an outlier does not reduce the other bars to slivers.
 */
export function longestBar(values: readonly number[]): number {
  const known = values.filter((value) => value > 0).sort((a, b) => a - b);
  return Math.min(known.at(-1) ?? 0, 4 * (known[Math.floor(known.length / 2)] ?? 0));
}

/** A number of page views, with a warning if there are few. */
export function Views({ of }: { of: number }) {
  if (of >= minViews) return <>{count(of)}</>;
  return <small title="Few page views: intervals are wide.">n = {count(of)}</small>;
}

/** A value ± half of its interval, and both as a bar. */
export function Interval({ of, scale, views, most }: Props) {
  const few = views < minViews;
  const known = of.high != undefined && of.low != undefined;
  const half = known ? (of.high! - of.low!) / 2 : undefined;
  const text = known ? `95 % interval ${duration(of.low!)} to ${duration(of.high!)}` : 'no interval';
  const hint = few ? `few page views (${views}); ${text}` : text;
  return (
    <span class="interval" title={hint}>
      {most ? <Bar of={of} most={most} /> : null}
      <span class="number">{amount(of.value, scale)}</span>
      <span class="half">{half == undefined ? '' : `±${amount(half, scale)}`}</span>
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
      {of.value > most && <path class="open" d={`M${width - 9} 1l-2 8M${width - 6} 1l-2 8`} />}
      {of.high != undefined && of.low != undefined && <path d={`M${x(of.low)} 5H${x(of.high)}`} />}
    </svg>
  );
}
