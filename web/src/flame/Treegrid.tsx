// The call tree as rows, also for screen readers. Only visible rows are in the document.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { fullPlaceOf, nameOf, share } from '../tree/format.ts';
import { isOther } from '../tree/other.ts';
import type { Found } from '../tree/search.ts';
import type { Tree } from '../tree/tree.ts';
import type { Numbers } from './numbers.ts';
import { hasCallees, indentsOf, opened, openAtFirst, rowsOf, type Open } from './rows.ts';

export interface TreegridProps {
  tree: Tree;
  numbers: Numbers;
  found?: Found;
  /** The first row; 0 is the root. */
  zoomed: number;
  selected: number;
  label: string;
  onSelect(node: number): void;
  /** Enter or a double click: opens (other), makes other nodes the first row. */
  onActivate(node: number): void;
}

/** The height of a row, in CSS pixels. */
const rowHeight = 26;

/**
 * Shows a call tree as rows. The keys are those of treegrids:
 * https://www.w3.org/WAI/ARIA/apg/patterns/treegrid/.
 */
export function Treegrid(props: TreegridProps) {
  const { tree, numbers, zoomed, selected, onSelect, onActivate } = props;
  const box = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useOpen(tree, selected);
  const rows = useMemo(() => rowsOf(tree, open, zoomed), [tree, open, zoomed]);
  const indents = useMemo(() => indentsOf(tree), [tree]);
  const [first, last] = useSeen(box, rows.length);
  const at = rowAt(rows, selected);
  useLayoutEffect(() => {
    const { current } = box;
    if (!current || at < 0) return;
    const head = rowHeight;
    const top = at * rowHeight;
    if (top < current.scrollTop) current.scrollTop = top;
    else if (top + rowHeight + head > current.scrollTop + current.clientHeight)
      current.scrollTop = top + rowHeight + head - current.clientHeight;
  }, [at, selected]);
  const toggle = (node: number) => {
    const next = open.slice();
    next[node] = open[node] ? 0 : 1;
    setOpen(next);
  };
  const press = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const to = nextOf(tree, open, rows, at, event.key, Math.floor((box.current!.clientHeight - rowHeight) / rowHeight));
    if (to == undefined && !(event.key == 'Enter' && at >= 0)) return;
    event.preventDefault();
    if (to == undefined) onActivate(selected);
    else if (to == 'toggle') toggle(selected);
    else onSelect(to);
  };
  const id = (node: number) => `flame-row-${node}`;
  const times = numbers.start ? ['start', 'duration', 'self'] : ['total', 'self'];
  const columns = ['function', ...times, 'share', ...(numbers.compared ? ['change'] : [])];
  const seen = rows.slice(first, last);
  return (
    <div
      class={`flame-rows${numbers.compared ? ' flame-compared' : numbers.start ? ' flame-timed' : ''}`}
      role="treegrid"
      aria-label={`Call tree of ${props.label}`}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={at >= first && at < last ? id(selected) : undefined}
      tabIndex={0}
      ref={box}
      onKeyDown={press}
      data-steady
    >
      <div role="rowgroup" class="flame-rows-head">
        <div role="row" class="flame-row" aria-rowindex={1}>
          {columns.map((column) => (
            <span role="columnheader" key={column}>
              {column}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="flame-rows-body" style={{ height: `${rows.length * rowHeight}px` }}>
        {seen.map((node, i) => (
          <Row
            key={node}
            {...props}
            id={id(node)}
            node={node}
            at={first + i}
            open={open[node] == 1}
            indent={indents[node]! - (zoomed ? indents[zoomed]! : 0)}
            onToggle={() => toggle(node)}
          />
        ))}
      </div>
    </div>
  );
}

/** The open calls, including all callers of the selected call. */
function useOpen(tree: Tree, selected: number): [open: Open, set: (open: Open) => void] {
  const [state, setState] = useState(() => ({ tree, open: openAtFirst(tree), selected: -1 }));
  let { open } = state;
  if (state.tree != tree) open = openAtFirst(tree);
  if (state.tree != tree || state.selected != selected) open = opened(tree, open, selected);
  // Not in useEffect, which runs later: it would undo a key press that came in between.
  useLayoutEffect(() => {
    if (state.tree != tree || state.selected != selected) setState({ tree, open, selected });
  }, [tree, selected]);
  const kept = useMemo(() => open, [tree, selected, state.open]);
  return [kept, (next) => setState({ tree, open: next, selected })];
}

/** Returns the range of visible rows. */
function useSeen(box: { current: HTMLDivElement | null }, length: number): [first: number, last: number] {
  const [seen, setSeen] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = box.current!;
    const changed = () => setSeen({ top: element.scrollTop, height: element.clientHeight });
    const resized = new ResizeObserver(changed);
    resized.observe(element);
    element.addEventListener('scroll', changed, { passive: true });
    return () => {
      resized.disconnect();
      element.removeEventListener('scroll', changed);
    };
  }, []);
  const more = 6;
  const first = Math.max(0, Math.min(Math.floor(seen.top / rowHeight) - more, length));
  return [first, Math.min(length, Math.ceil((seen.top + seen.height) / rowHeight) + more)];
}

/** Returns the position of a node in rows, which are sorted, or -1. */
function rowAt(rows: readonly number[], node: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]! < node) low = middle + 1;
    else high = middle;
  }
  return rows[low] == node ? low : -1;
}

/** Returns the node to which a key leads, or whether to open or close the call. */
function nextOf(
  tree: Tree,
  open: Open,
  rows: readonly number[],
  at: number,
  key: string,
  page: number,
): number | 'toggle' | undefined {
  const node = rows[at];
  const row = (to: number) => rows[Math.max(0, Math.min(rows.length - 1, to))];
  if (node == undefined)
    return ['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(key) ? row(key == 'End' ? rows.length : 0) : undefined;
  switch (key) {
    case 'ArrowDown':
      return row(at + 1);
    case 'ArrowUp':
      return row(at - 1);
    case 'PageDown':
      return row(at + page);
    case 'PageUp':
      return row(at - page);
    case 'Home':
      return row(0);
    case 'End':
      return row(rows.length);
    case 'ArrowRight':
      if (!hasCallees(tree, node)) return undefined;
      return open[node] ? row(at + 1) : 'toggle';
    case 'ArrowLeft':
      if (open[node] && hasCallees(tree, node)) return 'toggle';
      return rows.includes(tree.parent[node]!) ? tree.parent[node]! : undefined;
  }
  return undefined;
}

type RowProps = TreegridProps & {
  id: string;
  node: number;
  at: number;
  open: boolean;
  indent: number;
  onToggle(): void;
};

function Row({
  tree,
  numbers,
  found,
  zoomed,
  selected,
  node,
  id,
  at,
  open,
  indent,
  onToggle,
  onSelect,
  onActivate,
}: RowProps) {
  const frame = tree.frames[tree.frame[node]!]!;
  const expandable = hasCallees(tree, node);
  const part = numbers.shareOf(node, zoomed);
  const difference = numbers.compared ? numbers.change(node) : '';
  const kinds = [node == selected && 'flame-row-selected', found?.frames[tree.frame[node]!] && 'flame-row-found']
    .filter(Boolean)
    .join(' ');
  return (
    <div
      role="row"
      id={id}
      class={`flame-row ${kinds}`}
      style={{ top: `${at * rowHeight}px` }}
      aria-rowindex={at + 2}
      aria-level={tree.level[node]! - (zoomed ? tree.level[zoomed]! - 1 : 0)}
      aria-expanded={expandable ? open : undefined}
      aria-selected={node == selected}
      onClick={() => (isOther(frame) ? onActivate(node) : onSelect(node))}
      onDblClick={() => !isOther(frame) && onActivate(node)}
    >
      <span role="gridcell" class="flame-row-name" style={{ paddingInlineStart: `${4 + Math.min(indent, 30) * 12}px` }}>
        <span
          class="flame-toggle"
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            onSelect(node);
            if (expandable) onToggle();
          }}
        >
          {expandable ? (open ? '▾' : '▸') : ''}
        </span>
        <bdi title={frame.name}>{nameOf(frame, 120)}</bdi>
        <span class="flame-place" title={frame.resource}>
          <bdi>{isOther(frame) ? 'show its calls' : fullPlaceOf(frame, 60)}</bdi>
        </span>
      </span>
      {numbers.start && <span role="gridcell">{numbers.start(node)}</span>}
      <span role="gridcell">{numbers.total(node)}</span>
      <span role="gridcell">{numbers.self(node)}</span>
      <span role="gridcell" class="flame-row-share">
        <span class="flame-bar" aria-hidden="true" style={{ width: `${Math.min(100, part * 100)}%` }} />
        {share(part)}
      </span>
      {numbers.compared && (
        <span role="gridcell">
          {(difference.startsWith('+') ? '▲ ' : difference.startsWith('−') ? '▼ ' : '') + difference}
        </span>
      )}
    </div>
  );
}
