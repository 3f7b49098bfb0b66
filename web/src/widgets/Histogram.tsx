// The distribution of a time over page views.

import { useRef } from 'preact/hooks';
import type { Bar, Spread } from '../api/types.ts';
import { count, duration, percent } from './numbers.ts';
import { useWidth } from './width.ts';

/**
 * Merges bars into at most a given number of bars of the same width. The last bar collects all
 * larger times.
 */
export function binned(bars: readonly Bar[], most: number, p95: number): Bar[] {
  const total = bars.reduce((sum, bar) => sum + bar.count, 0);
  if (!total) return [];
  const end = Math.max(p95 * 1.5, ...bars.slice(0, 1).map((bar) => bar.high_ms));
  const width = niceWidth(end / most);
  const bins: Bar[] = [];
  for (const { low_ms, high_ms, count } of bars) {
    const at = Math.min(Math.floor((low_ms + high_ms) / 2 / width), Math.ceil(end / width));
    while (bins.length <= at) bins.push({ low_ms: bins.length * width, high_ms: (bins.length + 1) * width, count: 0 });
    const bin = bins[at]!;
    bin.count += count;
    bin.high_ms = Math.max(bin.high_ms, at >= Math.ceil(end / width) ? high_ms : 0);
  }
  return bins;
}

/** Returns the smallest width of 1, 2 or 5 times a power of ten that is at least as large. */
export function niceWidth(width: number): number {
  const power = 10 ** Math.floor(Math.log10(width || 1));
  return ([1, 2, 5].find((times) => times * power >= width) ?? 10) * power;
}

/** A histogram with its percentiles marked. */
export function Histogram({ bars, spread, of }: { bars: readonly Bar[]; spread?: Spread; of: string }) {
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box, 480);
  const bins = binned(bars, 36, spread?.p95.value ?? bars.at(-1)?.high_ms ?? 0);
  if (!bins.length) return <p class="empty">No page views.</p>;
  const total = bins.reduce((sum, bin) => sum + bin.count, 0);
  const most = Math.max(...bins.map((bin) => bin.count));
  const height = 110;
  const end = bins.length;
  const step = bins[0]!.high_ms - bins[0]!.low_ms;
  const x = (bin: number) => (bin / end) * width;
  const marks = spread
    ? (['p50', 'p75', 'p95'] as const).map((name) => ({ name, at: x(spread[name].value / step) }))
    : [];
  const texts = apart(
    marks.map(({ at }) => at),
    width,
  );
  return (
    <figure class="histogram" data-steady ref={box}>
      <svg
        width={width}
        height={height + 30}
        viewBox={`0 -14 ${width} ${height + 30}`}
        role="img"
        aria-label={`Page views by ${of}; the numbers are in the table below`}
      >
        {bins.map((bin, i) => (
          <rect
            key={i}
            x={x(i) + 0.5}
            width={Math.max(1, width / end - 1)}
            y={height - (bin.count / most) * height}
            height={(bin.count / most) * height}
          >
            <title>{`${rangeText(bin)}: ${count(bin.count)} (${percent(bin.count / total)})`}</title>
          </rect>
        ))}
        <path class="floor" d={`M0 ${height}H${width}`} />
        {marks.map(({ name, at }, i) => (
          <g key={name} class="mark">
            <path d={`M${at} 0V${height}`} />
            <text x={texts[i]} y="-3" text-anchor="middle">
              {name}
            </text>
          </g>
        ))}
        {ticks(end).map((bin) => (
          <text key={bin} x={x(bin)} y={height + 13} text-anchor={bin ? 'middle' : 'start'}>
            {duration(bin * step)}
          </text>
        ))}
      </svg>
      <details>
        <summary>As a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{of}</th>
              <th scope="col">page views</th>
            </tr>
          </thead>
          <tbody>
            {bins.map((bin) => (
              <tr key={bin.low_ms}>
                <td>{rangeText(bin)}</td>
                <td class="number">{count(bin.count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/** Half of the width of a percentile's label, in CSS pixels. */
const half = 14;

/**
 * Returns positions of labels without overlaps: each at its own position, or next to the previous
 * one.
 */
export function apart(places: readonly number[], width: number): number[] {
  const texts: number[] = [];
  for (const place of places) texts.push(Math.max(place, (texts.at(-1) ?? -half) + 2 * half));
  for (let i = texts.length - 1, most = width - half; i >= 0; i--, most -= 2 * half)
    texts[i] = Math.min(texts[i]!, most);
  return texts;
}

function rangeText({ low_ms, high_ms }: Bar): string {
  return `${duration(low_ms)} to ${duration(high_ms)}`;
}

/** Returns the bins with numbers below them. */
function ticks(bins: number): number[] {
  const step = niceWidth(bins / 6);
  return Array.from({ length: Math.floor((bins - 0.5) / step) + 1 }, (_, i) => i * step);
}
