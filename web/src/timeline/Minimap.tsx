// The whole page view as a strip: script activity, long tasks, and a window around the visible
// range. Its pointer actions have keys in the picture below.

import { useEffect, useRef } from 'preact/hooks';
import type { Range } from '../flame/range.ts';
import { oklch } from '../tree/colour.ts';
import type { Stretch } from '../api/types.ts';
import { useWidth } from '../widgets/width.ts';
import { momentText } from './axis.ts';
import { dragged, gripOf, type Drag } from './grip.ts';
import { busyOf, type Timeline } from './timeline.ts';

interface Props {
  timeline: Timeline;
  tasks: readonly Stretch[];
  dark: boolean;
  range: Range;
  onRange(range: Range): void;
}

/** The height of the strip, in CSS pixels. */
const height = 36;

/** The width of the area at an edge of the window that grabs the edge, in pixels. */
const edge = 8;

/** The strip with its window. */
export function Minimap({ timeline, tasks, dark, range, onRange }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useWidth(canvas, 0);
  const drag = useRef<Drag | undefined>(undefined);
  const all = timeline.layout.width[0]!;
  useEffect(() => {
    if (width > 0) paint(canvas.current!, width, timeline, tasks, dark);
  }, [width, timeline, tasks, dark]);
  const timeAt = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    return Math.max(0, Math.min(1, (event.clientX - box.left) / Math.max(1, box.width))) * all;
  };
  const part = (us: number) => `${(us / all) * 100}%`;
  return (
    <div
      class="time-map"
      aria-hidden="true"
      onPointerDown={(event) => {
        if (event.button != 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const at = timeAt(event);
        const near = (edge / Math.max(1, width)) * all;
        drag.current = { grip: gripOf(range, at, near, all), at, range };
      }}
      onPointerMove={(event) => {
        if (drag.current) onRange(dragged(drag.current, timeAt(event), all));
      }}
      onPointerUp={() => (drag.current = undefined)}
      onPointerCancel={() => (drag.current = undefined)}
      onDblClick={() => onRange({ from: 0, to: all })}
    >
      <canvas ref={canvas} />
      <div class="time-window" style={{ left: part(range.from), width: part(range.to - range.from) }} />
      <span class="time-end">{momentText(all)}</span>
    </div>
  );
}

function paint(
  canvas: HTMLCanvasElement,
  width: number,
  timeline: Timeline,
  tasks: readonly Stretch[],
  dark: boolean,
): void {
  const density = devicePixelRatio || 1;
  const wide = Math.max(1, Math.round(width * density));
  canvas.width = wide;
  canvas.height = Math.round(height * density);
  const context = canvas.getContext('2d')!;
  const room = canvas.height - 18 * density; // the rest is for the text
  context.fillStyle = dark ? oklch(0.55, 0.09, 250) : oklch(0.72, 0.09, 250);
  busyOf(timeline, wide).forEach((busy, x) => {
    const high = busy > 0 ? Math.max(density, busy * room) : 0;
    if (high) context.fillRect(x, canvas.height - 4 * density - high, 1, high);
  });
  const scale = wide / timeline.layout.width[0]!;
  context.fillStyle = taskColour(dark);
  for (const { start_us, end_us } of tasks) {
    context.fillRect(
      start_us * scale,
      canvas.height - 4 * density,
      Math.max(density, (end_us - start_us) * scale),
      4 * density,
    );
  }
}

function taskColour(dark: boolean): string {
  return dark ? oklch(0.7, 0.15, 55) : oklch(0.62, 0.16, 50);
}
