// The change against the previous period of the same length.

import type { Selection } from '../../api/selection.ts';
import type { ListItem } from '../../api/types.ts';

/** The change of a mean with its 95 % interval, in ms per page view. */
export interface MeansChange {
  value: number;
  low: number;
  high: number;
  /** Whether the interval excludes 0. */
  sure: boolean;
}

/**
 * Returns the change from one group of page views to another; undefined if either lacks data for an
 * interval.
 */
export function changeOfMeans(before: ListItem | undefined, after: ListItem): MeansChange | undefined {
  const [a, b] = [before?.spread?.mean, after.spread?.mean];
  if (a?.high == undefined || a.low == undefined || b?.high == undefined || b.low == undefined) return undefined;
  const half = Math.hypot((a.high - a.low) / 2, (b.high - b.low) / 2);
  const value = b.value - a.value;
  return { value, low: value - half, high: value + half, sure: Math.abs(value) > half };
}

/** Returns the selection of the previous period, of the same length. */
export function timeBefore(selection: Selection, from: number, to: number): Selection {
  const hour = 3600e3;
  const start = from - (to - from);
  return {
    ...selection,
    since: new Date(start - (start % hour)).toISOString(),
    until: new Date(from - (from % hour)).toISOString(),
  };
}
