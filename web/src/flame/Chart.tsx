// The picture of a flame graph: a canvas of the visible part, in a box that scrolls, with outlines
// of the pointed and selected nodes.

import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { coloursOf, paletteOf, type Colouring } from '../tree/colour.ts';
import type { Found } from '../tree/search.ts';
import type { Tree } from '../tree/tree.ts';
import { draw, rowHeight, topOf, type Picture } from './draw.ts';
import { nodeAt } from './hit.ts';
import { Labels } from './labels.ts';
import type { Layout } from './layout.ts';
import { moved, scaled, type Range } from './range.ts';
import { Raster } from './raster.ts';

export interface ChartProps {
  tree: Tree;
  layout: Layout;
  range: Range;
  onRange(range: Range): void;
  colouring: Colouring;
  dark: boolean;
  found?: Found;
  upwards: boolean;
  zoomed: number;
  selected: number;
  hovered: number;
  /** The names of the root and of the chart. */
  title: string;
  label: string;
  amount(node: number): string;
  onHover(node: number): void;
  /** A node was pressed. The first touch only selects it. */
  onPress(node: number, event: MouseEvent, touch: boolean): void;
  onPressTwice(node: number): void;
  onMenu(node: number, event: MouseEvent): void;
  onKeyDown(event: KeyboardEvent): void;
  canvas: RefObject<HTMLCanvasElement | null>;
  /** Kind of the chart, for screen readers. */
  kind?: string;
  /** Shown below the calls. */
  under?: ComponentChildren;
  /** Receives the canvas width in CSS pixels. */
  onWidth?(width: number): void;
}

/** Draws a tree and reports pointer actions on its nodes. */
export function Chart(props: ChartProps) {
  const { layout, range, upwards, selected, hovered, zoomed, canvas } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const levels = layout.levels.length;
  const width = usePainting(props, scroller);
  const pointer = usePointer(props, scroller);
  const first = useRef(true); // it is at the top then, and reading the page's layout is slow
  useLayoutEffect(() => {
    const box = scroller.current!;
    const top = topOf(props.tree.level[zoomed]!, levels, upwards);
    if (zoomed > 0) box.scrollTop = upwards ? top - box.clientHeight + 3 * rowHeight : top - 2 * rowHeight;
    else if (upwards) box.scrollTop = box.scrollHeight;
    else if (!first.current) box.scrollTop = 0;
    first.current = false;
  }, [layout, zoomed, upwards]);
  useLayoutEffect(() => {
    if (selected == 0) return;
    const box = scroller.current!;
    const top = topOf(props.tree.level[selected] ?? 0, levels, upwards);
    if (top < box.scrollTop || top + rowHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = top - box.clientHeight / 2;
  }, [selected]);
  const mark = (node: number, kind: string) => {
    const box = node >= 0 && markOf(layout, range, node, width);
    if (!box) return null;
    const top = topOf(props.tree.level[node]!, levels, upwards);
    return (
      <div class={`flame-mark ${kind}`} style={{ left: `${box.left}px`, width: `${box.width}px`, top: `${top}px` }} />
    );
  };
  return (
    <div class="flame-scroll" ref={scroller} data-steady>
      <div class="flame-height" style={{ height: `${levels * rowHeight}px` }}>
        {props.under}
        <canvas
          ref={canvas}
          class="flame-canvas"
          tabIndex={0}
          role="application"
          aria-roledescription={props.kind ?? 'flame graph'}
          aria-label={props.label}
          onKeyDown={props.onKeyDown}
          {...pointer}
        />
        {hovered > 0 && mark(hovered, 'flame-hovered')}
        {selected > 0 && mark(selected, 'flame-selected')}
      </div>
    </div>
  );
}

/** Returns the visible part of a node's outline. */
function markOf({ start, width: widths }: Layout, range: Range, node: number, width: number) {
  const scale = width / (range.to - range.from);
  const left = Math.max(0, (start[node]! - range.from) * scale);
  const right = Math.min(width, (start[node]! + widths[node]! - range.from) * scale);
  return right < 0 || left > width || widths[node] == 0 ? undefined : { left, width: Math.max(2, right - left) };
}

/** Paints in the next frame after a change; returns the canvas width. */
function usePainting(props: ChartProps, scroller: RefObject<HTMLDivElement | null>): number {
  const { tree, layout, range, colouring, dark, found, upwards, zoomed, title, amount } = props;
  const [width, setWidth] = useState(0);
  const colour = useMemo(() => coloursOf(tree, colouring, dark), [tree, colouring, dark]);
  const labels = useMemo(() => new Labels(tree), [tree]);
  const raster = useMemo(() => new Raster(), []);
  const paint = useRef(() => {});
  const frame = useRef(0);
  const repaint = () => {
    frame.current ||= requestAnimationFrame(() => {
      frame.current = 0;
      paint.current();
    });
  };
  paint.current = () => {
    const box = scroller.current;
    if (!box || !props.canvas.current || box.clientWidth == 0) return;
    paintOn(props.canvas.current, box, raster, {
      tree,
      layout,
      range,
      upwards,
      colour,
      labels,
      title,
      amount,
      zoomed,
      found: found?.frames,
      palette: paletteOf(dark),
    });
    setWidth(box.clientWidth);
    props.onWidth?.(box.clientWidth);
  };
  useLayoutEffect(repaint, [layout, range, colour, found, upwards, zoomed, title, amount]);
  useEffect(() => {
    const box = scroller.current!;
    const resized = new ResizeObserver(repaint);
    resized.observe(box);
    box.addEventListener('scroll', repaint, { passive: true });
    return () => {
      resized.disconnect();
      box.removeEventListener('scroll', repaint);
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, []);
  return width;
}

type Content = Omit<Picture, 'scroll' | 'width' | 'height' | 'density'>;

function paintOn(canvas: HTMLCanvasElement, box: HTMLDivElement, raster: Raster, content: Content): void {
  const width = box.clientWidth;
  const height = Math.min(box.clientHeight, content.layout.levels.length * rowHeight);
  const density = devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width != wide) canvas.width = wide;
  if (canvas.height != high) canvas.height = high;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d')!;
  context.setTransform(density, 0, 0, density, 0, 0);
  draw(context, raster, { ...content, width, height, density, scroll: box.scrollTop });
}

/** Returns pointer handlers of the canvas. */
function usePointer(props: ChartProps, scroller: RefObject<HTMLDivElement | null>) {
  const { layout, range, upwards, onRange } = props;
  const all = Math.max(layout.width[0]!, 1e-9);
  const drag = useRef<{ x: number; range: Range; far: boolean } | undefined>(undefined);
  const touch = useRef(false);
  const placeOf = (event: MouseEvent) => {
    const { clientWidth } = scroller.current!;
    return range.from + (event.offsetX / Math.max(1, clientWidth)) * (range.to - range.from);
  };
  const nodeUnder = (event: MouseEvent) => {
    const row = Math.floor((event.offsetY + scroller.current!.scrollTop) / rowHeight);
    return nodeAt(layout, upwards ? layout.levels.length - 1 - row : row, placeOf(event));
  };
  return {
    onPointerDown: (event: PointerEvent) => {
      touch.current = event.pointerType == 'touch';
      drag.current = event.button == 0 ? { x: event.offsetX, range, far: false } : undefined;
    },
    onPointerMove: (event: PointerEvent) => {
      const from = drag.current;
      if (from && event.buttons == 1) {
        const by = event.offsetX - from.x;
        from.far ||= Math.abs(by) > 5;
        if (from.far) onRange(moved(from.range, -by / scroller.current!.clientWidth, all));
      }
      if (event.pointerType != 'touch') props.onHover(nodeUnder(event));
    },
    onPointerLeave: () => props.onHover(-1),
    onClick: (event: MouseEvent) => {
      const node = nodeUnder(event);
      if (node >= 0 && !drag.current?.far) props.onPress(node, event, touch.current);
    },
    onDblClick: (event: MouseEvent) => props.onPressTwice(nodeUnder(event)),
    onContextMenu: (event: MouseEvent) => {
      const node = nodeUnder(event);
      if (node <= 0) return;
      event.preventDefault();
      props.onMenu(node, event);
    },
    onWheel: (event: WheelEvent) => {
      const aside = event.shiftKey
        ? event.deltaX || event.deltaY
        : Math.abs(event.deltaX) > Math.abs(event.deltaY)
          ? event.deltaX
          : 0;
      if (!event.ctrlKey && !aside) return;
      event.preventDefault();
      if (!event.ctrlKey) onRange(moved(range, aside / scroller.current!.clientWidth, all));
      else onRange(scaled(range, placeOf(event), Math.exp(Math.max(-50, Math.min(50, event.deltaY)) / 100), all));
    },
  };
}
