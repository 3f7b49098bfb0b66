// Formats times, shares and functions.

import type { Frame } from './tree.ts';

/** The unit of times: ms per page view, share of the total, or hours of all users per day. */
export type Unit = 'ms' | 'share' | 'hours';

/** The numbers by which times are divided. */
export interface Scale {
  unit: Unit;
  /** Number of page views in the sum of times. */
  views: number;
  /** Total time in µs. */
  total: number;
  /**
   * All page views of a day, profiled or not, from which hours are computed. Without it, times are
   * in ms.
   */
  viewsPerDay?: number;
}

/** Formats a number with three significant digits: 124, 12.4, 1.24, 0.031. */
function digits(value: number): string {
  const decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : value >= 0.9995 ? 2 : 3;
  return fixed(value, decimals);
}

/**
 * Formats a number with at most this many decimals and with commas between thousands. Intl would
 * take 30 ms on first use.
 */
export function fixed(value: number, decimals: number): string {
  const [whole = '', fraction = ''] = value.toFixed(decimals).split('.');
  const rest = fraction.replace(/0+$/, '');
  return whole.replace(/\B(?=(?:\d{3})+$)/g, ',') + (rest && `.${rest}`);
}

/** Formats a time in ms: '12.4 ms', '0.031 ms', '1.24 s'. */
export function time(ms: number): string {
  if (ms < 0) return `\u2212${time(-ms)}`;
  if (ms > 0 && ms < 0.0005) return '<0.001 ms';
  return ms >= 999.5 ? `${digits(ms / 1000)} s` : `${digits(ms)} ms`;
}

/** Formats hours: '3.2 h'. */
export function hours(h: number): string {
  if (h < 0) return `\u2212${hours(-h)}`;
  return h > 0 && h < 0.0005 ? '<0.001 h' : `${digits(h)} h`;
}

/** Formats a fraction of 1: '8.1 %'. */
export function share(part: number): string {
  if (part < 0) return `\u2212${share(-part)}`;
  const percent = part * 100;
  if (percent > 0 && percent < 0.005) return '<0.01 %';
  return `${fixed(percent, percent >= 99.95 ? 0 : percent >= 0.095 ? 1 : 2)} %`;
}

/** Formats a count: '1,234'. */
export function count(n: number): string {
  return fixed(n, 0);
}

/** Formats a difference, with a sign unless it is 0: '+18.2 ms', '−3.1 ms'. */
export function signed(difference: number, write: (amount: number) => string = time): string {
  const text = write(Math.abs(difference));
  if (!/[1-9]/.test(text)) return text;
  return (difference < 0 ? '\u2212' : '+') + text;
}

/** Formats a time in µs, summed over all page views, in the unit of a scale. */
export function amount(us: number, scale: Scale): string {
  const { unit, total, viewsPerDay } = scale;
  if (unit == 'share') return share(total > 0 ? us / total : 0);
  if (unit == 'hours' && viewsPerDay != undefined) return hours((msOf(us, scale.views) * viewsPerDay) / 3_600_000);
  return time(msOf(us, scale.views));
}

/**
 * Formats the difference between a time and the base, in percentage points if the unit is share.
 */
export function change(us: number, scale: Scale, baseUs: number, base: Scale): string {
  const { unit, viewsPerDay } = scale;
  if (unit == 'share') {
    const before = base.total > 0 ? baseUs / base.total : 0;
    return signed((scale.total > 0 ? us / scale.total : 0) - before, (part) => share(part).replace('%', 'pp'));
  }
  const ms = msOf(us, scale.views) - msOf(baseUs, base.views);
  if (unit == 'hours' && viewsPerDay != undefined) return signed((ms * viewsPerDay) / 3_600_000, hours);
  return signed(ms);
}

/** Returns ms per page view. */
export function msOf(us: number, views: number): number {
  return us / 1000 / Math.max(1, views);
}

// Characters that are invisible or change how others are displayed.
const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/**
 * Returns a printable text of at most this many characters: invisible characters are replaced, and
 * an ellipsis marks a cut.
 */
export function shown(text: string, most = 200): string {
  const seen = text.length > 2 * most ? text.slice(0, 2 * most) : text;
  const clean = seen.replace(unseen, '\ufffd');
  return clean.length <= most ? clean : `${cut(clean, most - 1)}…`;
}

/** Returns the first characters of a text, without splitting surrogate pairs. */
export function cut(text: string, most: number): string {
  const last = text.charCodeAt(most - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? most - 1 : most);
}

/** Returns the display name of a function. */
export function nameOf(frame: Frame, most?: number): string {
  return shown(frame.name || '(anonymous)', most);
}

/** Returns the location of a function without folders: 'file.ts:12:3', or '' if it is unknown. */
export function placeOf(frame: Frame): string {
  const path = frame.resource.replace(/[?#].*$/s, '');
  const file = shown(path.slice(path.lastIndexOf('/', path.length - 2) + 1), 80);
  return file + position(frame);
}

/**
 * Returns the location of a function with as many folders and as much of the host as fit:
 * 'node_modules/…/cjs/react.js:12:3'.
 */
export function fullPlaceOf(frame: Frame, most = 90): string {
  return shownResource(frame.resource, most) + position(frame);
}

function position({ line, column }: Frame): string {
  if (line <= 0) return '';
  return column > 0 ? `:${line}:${column}` : `:${line}`;
}

/**
 * Shortens a long path or address in the middle. The end identifies it better than the beginning.
 */
export function shownResource(resource: string, most = 90): string {
  const text = shown(resource.replace(/^https?:\/\//, ''), 4096);
  if (text.length <= most) return text;
  const first = text.slice(0, text.indexOf('/') + 1);
  const room = most - first.length - 1;
  return room < most / 2 ? `…${text.slice(1 - most)}` : `${first}…${text.slice(-room)}`;
}
