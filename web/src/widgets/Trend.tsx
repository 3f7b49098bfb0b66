// A line over time with axes, drawn in the first frame, without a library.

import { useRef } from 'preact/hooks';
import { duration, moment } from './numbers.ts';
import { niceWidth } from './Histogram.tsx';
import type { Marker } from './lines.ts';
import type { Sample } from './Sparkline.tsx';
import { useWidth } from './width.ts';
import './chart.css';

interface Line {
  name: string;
  samples: Sample[];
}

interface Props {
  lines: Line[];
  markers: Marker[];
  /** In ms since 1970. */
  from: number;
  to: number;
  /** In CSS pixels. */
  height?: number;
}

const left = 46;
const bottom = 20;

/** Lines over time with markers of releases. The scale starts at 0. */
export function Trend({ lines, markers, from, to, height = 150 }: Props) {
  const box = useRef<HTMLElement>(null);
  const width = useWidth(box, 720);
  const values = lines.flatMap((line) => line.samples.flatMap(({ value }) => (value == undefined ? [] : [value])));
  const most = Math.max(0, ...values);
  const step = niceWidth(most / 4 || 1);
  const top = Math.max(step, Math.ceil(most / step) * step);
  const x = (time: number) => left + (Math.max(0, time - from) / Math.max(1, to - from)) * (width - left - 8);
  const y = (value: number) => 14 + (1 - value / top) * (height - bottom - 14);
  const text = lines.map(({ name, samples }) => `${name}: ${told(samples)}`).join('; ');
  return (
    <figure class="trend" ref={box}>
      {values.length == 0 && <p class="empty">No page views in this time range.</p>}
      <svg width={width} height={height} role="img" aria-label={text}>
        {Array.from({ length: Math.round(top / step) + 1 }, (_, i) => (
          <g key={i} class="grid">
            <path d={`M${left} ${y(i * step)}H${width - 8}`} />
            <text x={left - 6} y={y(i * step) + 4} text-anchor="end">
              {duration(i * step)}
            </text>
          </g>
        ))}
        <Times from={from} to={to} x={x} y={height - 4} parts={width < 520 ? 2 : 4} />
        {placed(markers, from, to, width - left).map(({ label, right, below, time }) => (
          <g key={`${time} ${below}`} class="marker">
            <path d={`M${x(time)} 14V${height - bottom}`} />
            <text
              x={x(time) + (right ? -4 : 4)}
              y={below ? height - bottom - 4 : 10}
              text-anchor={right ? 'end' : 'start'}
            >
              {label}
            </text>
          </g>
        ))}
        {lines.map(({ name, samples }, i) => (
          <Line key={name} samples={samples} class={`line${i}`} x={x} y={y} />
        ))}
      </svg>
      <figcaption>
        {lines.map(({ name }, i) => (
          <span key={name} class={`key line${i}`}>
            {name}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

function Times({
  from,
  to,
  x,
  y,
  parts,
}: {
  from: number;
  to: number;
  x: (time: number) => number;
  y: number;
  parts: number;
}) {
  const times = Array.from({ length: parts + 1 }, (_, i) => from + (i / parts) * (to - from));
  return (
    <>
      {times.map((time, i) => (
        <text key={i} x={x(time)} y={y} text-anchor={i == 0 ? 'start' : i == parts ? 'end' : 'middle'}>
          {moment(time)}
        </text>
      ))}
    </>
  );
}

interface LineProps {
  samples: Sample[];
  class: string;
  x: (time: number) => number;
  y: (value: number) => number;
}

function Line({ samples, class: name, x, y }: LineProps) {
  const known = samples.flatMap(({ time, value }) => (value == undefined ? [] : [{ time, value }]));
  return (
    <g class={name}>
      {runs(samples).map((run) => (
        <polyline key={run[0]!.time} points={run.map((one) => `${x(one.time)},${y(one.value)}`).join(' ')} />
      ))}
      {known.length < 40 && known.map(({ time, value }) => <circle key={time} cx={x(time)} cy={y(value)} r="2.5" />)}
    </g>
  );
}

/** Returns the samples that have values, split at samples without one. */
function runs(samples: Sample[]): Required<Sample>[][] {
  const all: Required<Sample>[][] = [[]];
  for (const { time, value } of samples) {
    if (value == undefined) all.push([]);
    else all.at(-1)!.push({ time, value });
  }
  return all.filter((run) => run.length);
}

/** A marker with its text, which is empty if there is no room. */
export interface PlacedMarker {
  time: number;
  label: string;
  /** Whether the text is left of the line, because it would not fit to its right. */
  right: boolean;
  below: boolean;
}

/** Maximum number of releases in a chart: the newest ones. */
const mostMarkers = 24;

/**
 * Returns the markers in a time range, for a chart of a width in CSS pixels: markers with names
 * above, then markers with names below.
 */
export function placed(markers: readonly Marker[], from: number, to: number, width: number): PlacedMarker[] {
  return [false, true].flatMap((below) =>
    row(
      markers.filter((one) => (one.below ?? false) == below),
      from,
      to,
      width,
    ).map((place) => ({ ...place, below })),
  );
}

/**
 * Returns the markers in a time range whose names share a row, for a chart of a width in CSS
 * pixels. If there is no room for all names, only the newest is written, with the
 * number of markers before it: B +2.
 */
function row(markers: readonly Marker[], from: number, to: number, width: number): Omit<PlacedMarker, 'below'>[] {
  const within = markers.filter(({ time }) => time >= from && time <= to).slice(-mostMarkers);
  const x = (time: number) => ((time - from) / Math.max(1, to - from)) * width;
  const places: Omit<PlacedMarker, 'below'>[] = [];
  let begin = Infinity; // left edge of the text to the right
  let group: { place: { label: string }; name: string; more: number } | undefined;
  for (const { time, name } of within.reverse()) {
    const text = name.length > 16 ? `${name.slice(0, 15)}…` : name;
    const length = (text.length + 4) * 6.5 + 8;
    const place = { time, label: '', right: x(time) + length > width };
    places.unshift(place);
    const end = place.right ? x(time) : x(time) + length;
    if (group && end > begin) {
      group.more++;
      group.place.label = `${group.name} +${group.more}`;
      continue;
    }
    place.label = text;
    group = { place, name: text, more: 0 };
    begin = end - length;
  }
  return places;
}

function told(samples: Sample[]): string {
  const known = samples.filter(({ value }) => value != undefined);
  const last = known.at(-1);
  return last ? `${duration(known[0]!.value!)} to ${duration(last.value!)}` : 'no data';
}
