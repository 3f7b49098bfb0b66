// Percentiles over time, with markers of releases. Dragging selects the time range of the page.

import { useEffect, useRef, useState } from 'preact/hooks';
import type UPlot from 'uplot';
import type { Point } from '../api/types.ts';
import { change } from '../state/location.ts';
import { clock, day, duration, moment, number } from './numbers.ts';
import { lineNames, lineOf, valueAt, type LineName, type Marker } from './lines.ts';
import { placed, Trend, type PlacedMarker } from './Trend.tsx';
import 'uplot/dist/uPlot.min.css';

interface Props {
  points: readonly Point[];
  stepSeconds: number;
  markers: readonly Marker[];
  /** In ms since 1970. */
  from: number;
  to: number;
}

const shownFirst: readonly LineName[] = ['p50', 'p75', 'p95'];

/** A chart of the points, with a switch for each line and a table of the same values. */
export function TimeSeries(props: Props) {
  const { points } = props;
  const known = lineNames.filter((name) => points.some((point) => valueAt(point, name) != undefined));
  const [shown, setShown] = useState<readonly LineName[]>(shownFirst);
  const lines = known.filter((name) => shown.includes(name) || (known.length == 1 && name == 'mean'));
  const toggle = (name: LineName) =>
    setShown(lines.includes(name) ? lines.filter((one) => one != name) : [...lines, name]);
  if (!known.length) return <p class="empty">No page views in this time range.</p>;
  return (
    <figure class="series">
      <Chart {...props} lines={lines} />
      <figcaption>
        {known.map((name) => (
          <label key={name} class={`key line${lineNames.indexOf(name)}`}>
            <input type="checkbox" checked={lines.includes(name)} onChange={() => toggle(name)} />
            {name}
          </label>
        ))}
        <Numbers points={points} lines={known} />
        <span class="hint">Drag to select a time range.</span>
      </figcaption>
    </figure>
  );
}

function Numbers({ points, lines }: { points: readonly Point[]; lines: LineName[] }) {
  return (
    <details>
      <summary>As a table</summary>
      <p class="hint">In ms per page view.</p>
      <div class="table" tabIndex={0} role="group" aria-label="Points of the chart">
        <table>
          <thead>
            <tr>
              <th scope="col" class="text">
                from
              </th>
              <th scope="col">views</th>
              {lines.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points.slice(-200).map((point) => (
              <tr key={point.time}>
                <td class="text">{point.time && moment(point.time)}</td>
                <td class="number">{number(point.views)}</td>
                {lines.map((name) => {
                  const value = valueAt(point, name);
                  return (
                    <td key={name} class="number">
                      {value == undefined ? '–' : number(value)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** The picture: drawn by this module until the library is loaded. */
function Chart({ points, markers, from, to, lines, stepSeconds }: Props & { lines: LineName[] }) {
  const box = useRef<HTMLDivElement>(null);
  const [library, setLibrary] = useState<{ default: typeof UPlot }>();
  // In a separate task, because the module's own task is long already.
  useEffect(() => void import('uplot').then((loaded) => setTimeout(() => setLibrary(loaded))), []);
  const theme = useTheme();
  useEffect(() => {
    const element = box.current;
    if (!library || !element) return;
    const data = dataOf(points, lines, from, to);
    const size = () => ({ width: element.clientWidth, height: 150 });
    const plot = new library.default({ ...size(), ...options(element, lines, markers, from, to) }, data, element);
    const observer = new ResizeObserver(() => plot.setSize(size()));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [library, points, lines.join(), markers, from, to, theme]);
  const text = lines.map((name) => `${name}: ${told(points, name)}`).join('; ');
  if (library) {
    return <div ref={box} class="chart" role="img" aria-label={`${text}; steps of ${stepSeconds} s`} data-steady />;
  }
  const drawn = lines.map((name) => ({ name, samples: lineOf(points, name) }));
  return <Trend lines={drawn} markers={[...markers]} from={from} to={to} />;
}

function told(points: readonly Point[], name: LineName): string {
  const values = points.flatMap((point) => valueAt(point, name) ?? []);
  return values.length ? `${duration(values[0]!)} at first, ${duration(values.at(-1)!)} at last` : 'no data';
}

/** Returns times in s and the values of each line, including the ends of the range. */
function dataOf(points: readonly Point[], lines: LineName[], from: number, to: number): UPlot.AlignedData {
  const timed = points.filter((point) => point.time);
  const times = timed.map((point) => Date.parse(point.time!) / 1000);
  const first = Math.min(from / 1000, times[0] ?? Infinity);
  const last = Math.max(to / 1000, times.at(-1) ?? 0);
  const values = lines.map((name) => [null, ...timed.map((point) => valueAt(point, name) ?? null), null]);
  return [[first, ...times, last], ...values];
}

function options(
  element: HTMLElement,
  lines: LineName[],
  markers: readonly Marker[],
  from: number,
  to: number,
): Omit<UPlot.Options, 'width' | 'height'> {
  const colour = (name: string) => colourOf(element, name);
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { stroke: colour('--line'), width: 1 },
    font: '11px system-ui',
  };
  return {
    legend: { show: false },
    padding: [18, 24, 0, 0],
    cursor: { drag: { x: true, y: false, setScale: false }, y: false },
    scales: { y: { range: (_, __, max) => [0, (max || 1) * 1.08] } },
    axes: [
      { ...axis, size: 28, values: timesOf },
      { ...axis, size: 64, values: (_, values) => values.map(duration) },
    ],
    series: [
      {},
      ...lines.map((name) => ({
        label: name,
        stroke: colour(`--line-${lineNames.indexOf(name)}`),
        width: name == 'p75' ? 2 : 1.25,
        points: { size: 5 },
        spanGaps: false,
      })),
    ],
    hooks: {
      draw: [
        (plot) => {
          const width = plot.bbox.width / devicePixelRatio;
          drawMarkers(plot, placed(markers, from, to, width), colour('--quiet'));
        },
      ],
      setSelect: [(plot) => select(plot)],
    },
    plugins: [{ hooks: { setCursor: [tip(element)] } }],
  };
}

/** Formats the times of an axis: the hour, or the day at midnight. */
function timesOf(_: UPlot, times: number[]): string[] {
  return times.map((time) => {
    const hour = clock(time * 1000);
    return hour == '00:00' ? day(time * 1000) : hour;
  });
}

/** Returns the colour of a CSS variable in the theme of an element. */
function colourOf(element: HTMLElement, name: string): string {
  element.style.color = `var(${name})`;
  const { color } = getComputedStyle(element);
  element.style.color = '';
  return color;
}

/** Shows the values at the pointer at the top of a chart. */
function tip(element: HTMLElement): (plot: UPlot) => void {
  const text = document.createElement('output');
  text.className = 'tip';
  return (plot) => {
    if (!text.isConnected) element.querySelector('.uplot')?.append(text);
    const i = plot.cursor.idx;
    const time = i == undefined ? undefined : plot.data[0][i];
    const values = plot.series.slice(1).flatMap(({ label }, line) => {
      const value = i == undefined ? undefined : plot.data[line + 1]?.[i];
      return value == undefined ? [] : [`${String(label)} ${duration(value)}`];
    });
    text.textContent = time && values.length ? `${moment(time * 1000)} · ${values.join(' · ')}` : '';
  };
}

function drawMarkers(plot: UPlot, markers: readonly PlacedMarker[], colour: string): void {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour;
  ctx.font = `${11 * devicePixelRatio}px system-ui`;
  ctx.setLineDash([4, 4]);
  for (const { time, label, right, below } of markers) {
    const x = Math.round(plot.valToPos(time / 1000, 'x', true));
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.textAlign = right ? 'right' : 'left';
    ctx.fillText(label, x + (right ? -4 : 4), (below ? bbox.top + bbox.height : bbox.top) - 5 * devicePixelRatio);
  }
  ctx.restore();
}

/** Selects a dragged range as the time range of the page. */
function select(plot: UPlot): void {
  const { left, width } = plot.select;
  if (width < 4) return;
  const at = (x: number) => new Date(Math.round(plot.posToVal(x, 'x') / 60) * 60_000).toISOString();
  change({ since: at(left), until: at(left + width) });
}

/** Returns a value that changes with the colours of the page. */
function useTheme(): string {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const now = () => `${document.documentElement.dataset.theme ?? ''} ${dark.matches}`;
  const [theme, setTheme] = useState(now);
  useEffect(() => {
    const update = () => setTheme(now());
    const observer = new MutationObserver(update);
    observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    dark.addEventListener('change', update);
    return () => {
      observer.disconnect();
      dark.removeEventListener('change', update);
    };
  }, []);
  return theme;
}
