// A flame graph: each call as wide as the time that it took, below its caller.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { changeOf, coloursOf, type Colouring } from '../tree/colour.ts';
import { functionsOf } from '../tree/functions.ts';
import type { Found } from '../tree/search.ts';
import type { Tree } from '../tree/tree.ts';
import { Details } from './Details.tsx';
import { draw, rowHeight, type Style } from './draw.ts';
import { layoutOf, nodeAt, type Range } from './layout.ts';
import { moved, neighbour, rangeOf, scaled } from './view.ts';
import './flame.css';

/** What a flame graph shows, and what it tells. */
export interface FlameProps {
  tree: Tree;
  colouring: Colouring;
  /** What is searched for, if something is. */
  found?: Found;
  /** The node that is as wide as the picture; 0 is all. */
  zoomed: number;
  onZoom(node: number): void;
  /** Asks for what is in an (other) node. */
  onOpen?(node: number): void;
  /** Writes a time in ms per page view. */
  amount(ms: number): string;
  /** Where more is said of a function. */
  linkOf?(node: number): string | undefined;
  /** What the root is called. */
  title: string;
}

/** Draws a tree, and lets somebody walk through it by pointer and keys. */
export function FlameGraph(props: FlameProps) {
  const { tree, zoomed, found, onZoom } = props;
  const layout = useMemo(() => layoutOf(tree), [tree]);
  const all = Math.max(tree.total[0]!, 1e-9);
  const [range, setRange] = useState<Range>(() => rangeOf(tree, layout, zoomed));
  const [selected, select] = useState(zoomed);
  const [hovered, hover] = useState(0);
  const canvas = useRef<HTMLCanvasElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const [match, setMatch] = useState(-1);
  useLayoutEffect(() => {
    setRange(rangeOf(tree, layout, zoomed));
    select(zoomed);
    hover(0);
  }, [tree, layout, zoomed]);
  const repaint = usePainting({ ...props, canvas, scroller, layout, range, selected, hovered });
  const show = (node: number) => {
    select(node);
    const { from, to } = rangeOf(tree, layout, node);
    if (to <= range.from || from >= range.to) setRange(rangeOf(tree, layout, Math.max(0, tree.parent[node]!)));
    const box = scroller.current!;
    const top = tree.level[node]! * rowHeight;
    if (top < box.scrollTop || top + rowHeight > box.scrollTop + box.clientHeight) box.scrollTop = top - box.clientHeight / 2;
  };
  const nodeUnder = (event: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const level = Math.floor((event.clientY - box.top + scroller.current!.scrollTop) / rowHeight);
    const x = range.from + ((event.clientX - box.left) / box.width) * (range.to - range.from);
    return nodeAt(tree, layout, level, x);
  };
  const activate = (node: number) => {
    if (tree.frames[tree.frame[node]!]?.name == '(other)' && props.onOpen) props.onOpen(node);
    else onZoom(node);
  };
  const press = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const middle = selected ? layout.start[selected]! + tree.total[selected]! / 2 : (range.from + range.to) / 2;
    const step = (by: number) => {
      if (!found?.nodes.length) return;
      const next = (match + by + found.nodes.length) % found.nodes.length;
      setMatch(next);
      show(found.nodes[next]!);
    };
    const actions: Record<string, () => void> = {
      Enter: () => activate(selected),
      Escape: () => onZoom(0),
      Backspace: () => onZoom(Math.max(0, tree.parent[zoomed]!)),
      w: () => setRange(scaled(range, middle, 0.7, all)),
      s: () => setRange(scaled(range, middle, 1 / 0.7, all)),
      a: () => setRange(moved(range, -0.2, all)),
      d: () => setRange(moved(range, 0.2, all)),
      n: () => step(1),
      p: () => step(-1),
    };
    const action = event.key.startsWith('Arrow') ? () => show(neighbour(tree, layout, selected, event.key)) : actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  const height = layout.levels.length * rowHeight;
  return (
    <div class="flame">
      <Details {...props} node={hovered || selected} onSelect={(node) => onZoom(node)} />
      <div class="flame-scroll" ref={scroller} onScroll={repaint} data-steady>
        <div class="flame-height" style={{ height: `${height}px` }}>
          <canvas
            ref={canvas}
            tabIndex={0}
            role="application"
            aria-roledescription="flame graph"
            aria-label={`Flame graph of ${props.title}: arrow keys go from call to call, Enter makes one as wide as the picture, Escape shows all again. Rows has the same as a tree.`}
            onMouseMove={(event) => hover(nodeUnder(event))}
            onMouseLeave={() => hover(0)}
            onClick={(event) => {
              const node = nodeUnder(event);
              select(node);
              activate(node);
            }}
            onKeyDown={press}
          />
        </div>
      </div>
      {tree.baseTotal && <Removed tree={tree} amount={props.amount} />}
    </div>
  );
}

type Painting = FlameProps & {
  canvas: { current: HTMLCanvasElement | null };
  scroller: { current: HTMLDivElement | null };
  layout: ReturnType<typeof layoutOf>;
  range: Range;
  selected: number;
  hovered: number;
};

/** Paints when something changes, once a frame; returns what paints again. */
function usePainting(painting: Painting): () => void {
  const { tree, colouring, canvas, scroller } = painting;
  const [theme, setTheme] = useState(0);
  const last = useRef(painting);
  last.current = painting;
  const frame = useRef(0);
  const colours = useMemo(() => {
    const dark = isDark(document.body);
    return { dark, of: coloursOf(tree, colouring, { dark }) };
  }, [tree, colouring, theme]);
  const paint = () => {
    frame.current = 0;
    const { scroller: box, canvas: on } = last.current;
    if (!box.current || !on.current || !box.current.clientWidth) return;
    paintOn(on.current, box.current, last.current, colours.of, colours.dark);
  };
  const repaint = () => {
    frame.current ||= requestAnimationFrame(() => latest.current());
  };
  const latest = useRef(paint);
  latest.current = paint;
  useLayoutEffect(repaint);
  useEffect(() => {
    const resized = new ResizeObserver(repaint);
    resized.observe(scroller.current!);
    const changed = () => setTheme((n) => n + 1);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', changed);
    const themed = new MutationObserver(changed);
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      scheme.removeEventListener('change', changed);
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, [canvas, scroller]);
  return repaint;
}

function paintOn(
  canvas: HTMLCanvasElement,
  box: HTMLDivElement,
  { tree, layout, range, found, selected, hovered, title }: Painting,
  colour: (node: number) => string,
  dark: boolean,
): void {
  const width = box.clientWidth;
  const height = Math.min(box.clientHeight, layout.levels.length * rowHeight);
  const density = devicePixelRatio || 1;
  if (canvas.width != Math.round(width * density)) canvas.width = Math.round(width * density);
  if (canvas.height != Math.round(height * density)) canvas.height = Math.round(height * density);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext('2d')!;
  context.setTransform(density, 0, 0, density, 0, 0);
  const label = (node: number) => {
    if (node == 0) return title;
    const name = (tree.frames[tree.frame[node]!]!.name || '(anonymous)').slice(0, 200);
    if (!tree.baseTotal) return name;
    const change = changeOf(tree, node);
    return change > 0.005 ? `▲ ${name}` : change < -0.005 ? `▼ ${name}` : name;
  };
  draw(context, {
    tree, layout, range, width, height, colour, label, selected, hovered,
    scroll: box.scrollTop,
    found: found?.functions ? found.frames : undefined,
    style: dark ? darkStyle : lightStyle,
  });
}

const font = '12px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
const lightStyle: Style = { font, text: '#14171c', dim: '#e4e7ec', root: '#d5d9e0', found: '#c9a4f5', selected: '#14171c' };
const darkStyle: Style = { font, text: '#f3f5f8', dim: '#2a2f37', root: '#3a414c', found: '#7a45bd', selected: '#ffffff' };

/** Whether the text of an element is light. */
function isDark(element: HTMLElement): boolean {
  const [red = 0, green = 0, blue = 0] = (getComputedStyle(element).color.match(/[\d.]+/g) ?? []).map(Number);
  return red + green + blue > 380;
}

/** Functions that one side alone has: they have no width in the picture of the other. */
function Removed({ tree, amount }: { tree: Tree; amount(ms: number): string }) {
  const removed = useMemo(() => {
    const all = functionsOf(tree).filter(({ total, baseTotal }) => total == 0 && baseTotal > 0);
    return all.sort((a, b) => b.baseTotal - a.baseTotal);
  }, [tree]);
  if (!removed.length) return null;
  const ms = (us: number) => us / 1000 / Math.max(1, tree.baseViews);
  return (
    <details class="flame-removed">
      <summary>{removed.length} functions of A are not in B</summary>
      <ul>
        {removed.slice(0, 50).map(({ frame, baseSelf }) => (
          <li key={frame}>
            <bdi>{(tree.frames[frame]!.name || '(anonymous)').slice(0, 200)}</bdi> <span>−{amount(ms(baseSelf))}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
