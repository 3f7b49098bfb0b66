// Formats times in µs as ms, for the axis and URLs.

import type { Range } from '../flame/range.ts';
import { fixed } from '../tree/format.ts';

/** A position on the axis, in µs, and its label. */
export interface Tick {
  at: number;
  text: string;
}

/** Returns ticks at round numbers within a range, roughly at most the given number. */
export function ticksOf({ from, to }: Range, most: number): Tick[] {
  const least = (to - from) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((times) => times * power).find((size) => size >= least * (1 - 1e-9))!;
  const decimals = Math.max(0, Math.ceil(3 - Math.log10(step) - 1e-9));
  const ticks: Tick[] = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++) {
    ticks.push({ at: i * step, text: `${fixed((i * step) / 1000, decimals)} ms` });
  }
  return ticks;
}

/** Formats a time with a tenth of a ms: '1,633.0 ms'. */
export function momentText(us: number): string {
  const text = fixed(us / 1000, 1);
  return `${text}${text.includes('.') ? '' : '.0'} ms`;
}

/** Formats a range for a URL: '198-285.1', in ms. */
export function textOfRange({ from, to }: Range): string {
  const ms = (us: number) => String(Math.round(us * 10) / 10_000);
  return `${ms(from)}-${ms(to)}`;
}

/** Parses a range from a URL and limits it to all; returns undefined if it is invalid. */
export function rangeOfText(text: string, all: number): Range | undefined {
  const parts = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text);
  if (!parts) return undefined;
  const [from, to] = [parts[1], parts[2]].map((ms) => Math.min(all, Math.round(Number(ms) * 10_000) / 10)) as [
    number,
    number,
  ];
  return to > from ? { from, to } : undefined;
}
