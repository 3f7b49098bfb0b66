// The units of times.

import type { Unit } from '../tree/format.ts';
import type { Point } from '../api/types.ts';
import { hours, number, percent } from './numbers.ts';

/** Returns the names of a unit, for a switch and for a column. */
export function unitTitle(unit: Unit, perDay = false): { short: string; long: string } {
  if (unit == 'ms') return { short: 'ms', long: 'ms per page view' };
  if (unit == 'share') return { short: 'share', long: 'share of all JavaScript time' };
  return perDay ? { short: 'time/day', long: 'total user time per day' } : { short: 'time', long: 'total user time' };
}

/** The period of total user time. Less than a day is not extrapolated. */
export function ofPeriod({ perDay }: Pick<Scale, 'perDay'>): string {
  return perDay ? 'per day' : 'in this range';
}

/** The factors from the means of a selection to other units. */
export interface Scale {
  unit: Unit;
  /**
   * Hours of user time per ms of a mean, as the API counts them: per day, or over the whole range.
   */
  hoursPerMs: number;
  perDay: boolean;
  /** Mean of the total time, in ms per page view. */
  wholeMs: number;
}

/** Returns the JavaScript time of the pages, in µs, without the profiling script. */
export const ofPage = ({ self_us, own_us }: Pick<Point, 'self_us' | 'own_us'>): number => self_us - own_us;

/** Converts a mean in ms per page view to the unit of a scale. */
export function inUnit(ms: number, scale: Scale): number {
  if (scale.unit == 'hours') return ms * scale.hoursPerMs;
  if (scale.unit == 'share') return scale.wholeMs ? ms / scale.wholeMs : 0;
  return ms;
}

/** Formats a mean in the unit of a scale, without the unit's name. */
export function amount(ms: number, scale: Scale): string {
  const value = inUnit(ms, scale);
  if (scale.unit == 'share') return percent(value);
  return scale.unit == 'hours' ? hours(value) : number(value);
}

/** Returns the scale of a point's page views, whose mean is wholeMs. */
export function scaleOf(unit: Unit, point: Point | undefined, wholeMs = point?.mean_ms ?? 0): Scale {
  const { people, mean_ms = 0 } = point ?? {};
  return {
    unit,
    hoursPerMs: people && mean_ms ? people.hours / mean_ms : 0,
    perDay: people?.per_day ?? false,
    wholeMs,
  };
}
