// Formats numbers and times in English, like the surrounding texts, whatever the browser's language
// is. Intl would return the same texts, but it takes 30 ms on first use, and again for the first
// date.

import { count } from '../tree/format.ts';

export { count };

const minus = '\u2212';
/** Separates a number and its unit without a line break. */
const space = '\u00a0';
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/**
 * Formats a number with three significant digits and at most two decimals: 1,234, 544, 54.4, 5.44,
 * 0.05, <0.01.
 */
export function number(value: number): string {
  const size = Math.abs(value);
  if (value == 0) return '0';
  if (size < 0.005) return value < 0 ? '≈0' : '<0.01';
  const digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  const text = size >= 999.5 ? count(size) : size.toFixed(digits);
  return value < 0 ? minus + text : text;
}

/** Formats a number with its sign: +18.2, −3.33, 0; ≈0 below 0.005. */
export function signed(value: number): string {
  if (value != 0 && Math.abs(value) < 0.005) return '≈0';
  return value > 0 ? `+${number(value)}` : number(value);
}

/** Formats a time: 54.4 ms, 1.23 s. */
export function duration(ms: number): string {
  return Math.abs(ms) >= 999.5 ? `${number(ms / 1000)}${space}s` : `${number(ms)}${space}ms`;
}

/** Formats hours: 12.3 h, 2.4 min, 38 s. */
export function hours(value: number): string {
  if (value == 0 || value >= 0.9995) return `${number(value)}${space}h`;
  const seconds = value * 3600;
  return seconds >= 59.95 ? `${number(seconds / 60)}${space}min` : `${number(seconds)}${space}s`;
}

/** Formats a whole number with at most five or six characters: 12,345, 123.5K, 4M. */
export function shortCount(value: number): string {
  if (value < 99_999.5) return count(value);
  const units = ['K', 'M', 'B', 'T'];
  let power = Math.min(units.length, Math.floor(Math.log10(value) / 3));
  const tenths = () => Math.round((value / 1000 ** power) * 10) / 10;
  if (tenths() == 1000 && power < units.length) power++; // 999,950 is 1M
  return `${tenths()}${units[power - 1]}`;
}

/** Formats a size: 512 B, 1.17 MB, 50.6 GB. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = value < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(value) / 3));
  return `${power ? number(value / 1000 ** power) : count(value)}${space}${units[power]}`;
}

/** Formats a share from 0 to 1: 17 %, 5.5 %, <0.1 %. */
export function percent(share: number): string {
  const value = share * 100;
  const size = Math.abs(value);
  if (value == 0) return `0${space}%`;
  if (size < 0.05) return `<0.1${space}%`;
  const text = size >= 999.5 ? count(size) : size.toFixed(size >= 9.95 ? 0 : 1);
  return `${value < 0 ? minus : ''}${text}${space}%`;
}

/** Formats a share with its sign: +17 %. */
export function signedPercent(share: number): string {
  return share > 0 ? `+${percent(share)}` : percent(share);
}

/** Formats an age: now, 12 s, 3 min, 2 h, 5 d. */
export function ago(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 3) return 'now';
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129_600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** Formats a count: plural(2, 'function') is 2 functions. */
export function plural(value: number, thing: string, things = `${thing}s`): string {
  return `${count(value)} ${value == 1 ? thing : things}`;
}

/** Formats a time in the time zone of the browser: 23 Nov, 06:31. */
export function moment(time: string | number): string {
  return `${day(time)}, ${clock(time)}`;
}

/** Formats a day in the time zone of the browser: 23 Nov. */
export function day(time: string | number): string {
  const date = new Date(time);
  return `${date.getDate()} ${months[date.getMonth()]}`;
}

/** Formats a time of day in the time zone of the browser: 06:31. */
export function clock(time: string | number): string {
  const date = new Date(time);
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Capitalizes the first letter of a text. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Shortens a text of any length. */
export function cut(text: string, length = 200): string {
  const letters = [...text.slice(0, length * 2)];
  return letters.length > length || text.length > length * 2 ? `${letters.slice(0, length).join('')}…` : text;
}

/**
 * Replaces control characters by their symbols, and characters that change the direction of a text
 * by �, so that nothing is invisible.
 */
export function visible(text: string): string {
  return text
    .replace(/[\u0000-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/\u007f/g, '␡')
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}
