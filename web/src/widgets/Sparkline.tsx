// A line without axes, for rows of lists.

import { duration, moment } from './numbers.ts';

/** A value at a time; undefined is a gap. */
export interface Sample {
  /** In ms since 1970. */
  time: number;
  value?: number;
}

interface Props {
  samples: Sample[];
  /** In ms since 1970. */
  from: number;
  to: number;
  name: string;
  /** The value of a horizontal line. */
  limit?: number;
}

/** A small line over a time range. The scale starts at 0. */
export function Sparkline({ samples, from, to, name, limit }: Props) {
  const known = samples.filter((sample) => sample.value != undefined) as Required<Sample>[];
  const first = known[0];
  const last = known.at(-1);
  if (!first || !last) return <span class="quiet">–</span>;
  const width = 96;
  const height = 22;
  const most = Math.max(limit ?? 0, ...known.map((sample) => sample.value)) || 1;
  const x = (time: number) => ((Math.max(0, time - from) / Math.max(1, to - from)) * (width - 6) + 3).toFixed(1);
  const y = (value: number) => (height - 3 - (value / most) * (height - 6)).toFixed(1);
  const text =
    first == last
      ? `${name}: ${duration(last.value)}`
      : `${name}: from ${duration(first.value)} at ${moment(first.time)} to ${duration(last.value)}, ` +
        `at most ${duration(most)}`;
  return (
    <svg class="spark" width={width} height={height} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={text}>
      <title>{text}</title>
      <path d={`M3 ${height - 2.5}H${width - 3}`} class="floor" />
      {limit != undefined && <path d={`M3 ${y(limit)}H${width - 3}`} class="limit" />}
      <polyline points={known.map((sample) => `${x(sample.time)},${y(sample.value)}`).join(' ')} />
      <circle cx={x(last.time)} cy={y(last.value)} r="2" />
    </svg>
  );
}
