// The units that times are shown in.

import type { Unit } from '../tree/format.ts';
import { hours, number, percent } from './numbers.ts';

/** What a unit is called: in a switch, and at a column. */
export function unitTitle(unit: Unit, days: number): { short: string; long: string } {
  if (unit == 'ms') return { short: 'ms', long: 'ms per page view' };
  if (unit == 'share') return { short: 'share', long: 'share of all JavaScript time' };
  return days < 1
    ? { short: 'time', long: 'people’s time in these hours' }
    : { short: 'time/day', long: 'people’s time per day' };
}

/** What people’s time is said for: less than a day is not made into one. */
export function perDay(days: number): string {
  return days < 1 ? 'in this time' : 'per day';
}

/** What the means of a selection are turned into other units by. */
export interface Scale {
  unit: Unit;
  /** Page views that are stood for, profiled or not. */
  population: number;
  /** Of the time that is selected. Time per day is of whole days: an hour says nothing of the others. */
  days: number;
  /** Mean of all time, in ms per page view. */
  wholeMs: number;
}

/** Returns a mean in ms per page view in the unit of a scale. */
export function inUnit(ms: number, scale: Scale): number {
  if (scale.unit == 'hours') return (ms * scale.population) / 3.6e6 / Math.max(scale.days, 1);
  if (scale.unit == 'share') return scale.wholeMs ? ms / scale.wholeMs : 0;
  return ms;
}

/** Writes a mean in the unit of a scale, without the name of the unit. */
export function amount(ms: number, scale: Scale): string {
  const value = inUnit(ms, scale);
  if (scale.unit == 'share') return percent(value);
  return scale.unit == 'hours' ? hours(value) : number(value);
}

/** Returns the same scale of a part that has other page views, such as one page of several. */
export function scaleOfPart(scale: Scale, views: number, population: number, wholeUs: number): Scale {
  return { ...scale, population, wholeMs: views ? wholeUs / 1000 / views : 0 };
}
