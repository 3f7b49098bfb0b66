// The call tree as rows: what the flame graph shows, for those who read or hear it.

import { useMemo, useRef, useState } from 'preact/hooks';
import type { Found } from '../tree/search.ts';
import type { Tree } from '../tree/tree.ts';
import { changeOf } from '../tree/colour.ts';
import { cut, percent, signed, visible } from '../widgets/numbers.ts';
import './flame.css';

interface Props {
  tree: Tree;
  found?: Found;
  /** The node whose callees come first; 0 is all. */
  zoomed: number;
  amount(ms: number): string;
  onOpen?(node: number): void;
  linkOf?(node: number): string | undefined;
  title: string;
}

/** How many rows are drawn at first, and each time that more are asked for. */
const portion = 300;

/** Returns the nodes below one, those with the most time first. */
function callees(tree: Tree, node: number): number[] {
  const all: number[] = [];
  for (let child = node + 1; child < tree.end[node]!; child = tree.end[child]!) all.push(child);
  return all.filter((child) => tree.total[child]! > 0 || (tree.baseTotal?.[child] ?? 0) > 0);
}

/** Returns the nodes that are open at first: down to where the time goes several ways. */
function opened(tree: Tree, zoomed: number): Set<number> {
  const open = new Set<number>([zoomed]);
  for (let node = zoomed, depth = 0; depth < 60; depth++) {
    const [first] = callees(tree, node);
    if (first == undefined || tree.total[first]! < tree.total[zoomed]! * 0.2) break;
    open.add(first);
    node = first;
  }
  return open;
}

/** A tree of rows, one a call. */
export function Rows(props: Props) {
  const { tree, zoomed, found } = props;
  const [open, setOpen] = useState(() => opened(tree, zoomed));
  const [most, setMost] = useState(portion);
  const [current, setCurrent] = useState(0);
  const body = useRef<HTMLTableSectionElement>(null);
  const shown = useMemo(() => {
    const rows: number[] = [];
    const walk = (node: number) => {
      for (const child of callees(tree, node)) {
        if (rows.length >= most) return;
        rows.push(child);
        if (open.has(child)) walk(child);
      }
    };
    walk(zoomed);
    return rows;
  }, [tree, zoomed, open, most]);
  const toggle = (node: number, to = !open.has(node)) => {
    const next = new Set(open);
    if (to) next.add(node);
    else next.delete(node);
    setOpen(next);
  };
  const focus = (at: number) => {
    const place = Math.max(0, Math.min(shown.length - 1, at));
    setCurrent(place);
    (body.current?.children[place] as HTMLElement | undefined)?.focus();
  };
  const press = (event: KeyboardEvent, at: number, node: number) => {
    const leaf = tree.end[node] == node + 1;
    const actions: Record<string, () => void> = {
      ArrowDown: () => focus(at + 1),
      ArrowUp: () => focus(at - 1),
      Home: () => focus(0),
      End: () => focus(shown.length - 1),
      ArrowRight: () => (open.has(node) || leaf ? focus(at + 1) : toggle(node, true)),
      ArrowLeft: () => (open.has(node) && !leaf ? toggle(node, false) : focus(shown.indexOf(tree.parent[node]!))),
      Enter: () => (isOther(tree, node) && props.onOpen ? props.onOpen(node) : toggle(node)),
    };
    const action = actions[event.key];
    if (!action || event.metaKey || event.ctrlKey || event.altKey) return;
    event.preventDefault();
    action();
  };
  return (
    <div class="tree-rows">
      <table role="treegrid" aria-label={`Call tree of ${props.title}`}>
        <thead>
          <tr>
            <th scope="col">function</th>
            <th scope="col">total</th>
            <th scope="col">self</th>
            <th scope="col">share</th>
            {tree.baseTotal && <th scope="col">change, ms</th>}
          </tr>
        </thead>
        <tbody ref={body}>
          {shown.map((node, at) => (
            <Row key={node} {...props} node={node} at={at} open={open.has(node)} isCurrent={at == Math.min(current, shown.length - 1)}
              found={found} toggle={toggle} press={press} onFocus={() => setCurrent(at)} />
          ))}
        </tbody>
      </table>
      {shown.length >= most && (
        <button type="button" onClick={() => setMost(most + portion)}>
          More rows
        </button>
      )}
    </div>
  );
}

const isOther = (tree: Tree, node: number) => tree.frames[tree.frame[node]!]!.name == '(other)';

type RowProps = Props & {
  node: number;
  at: number;
  open: boolean;
  isCurrent: boolean;
  toggle(node: number): void;
  press(event: KeyboardEvent, at: number, node: number): void;
  onFocus(): void;
};

function Row({ tree, zoomed, found, amount, onOpen, linkOf, node, at, open, isCurrent, toggle, press, onFocus }: RowProps) {
  const frame = tree.frames[tree.frame[node]!]!;
  const leaf = tree.end[node] == node + 1;
  const depth = tree.level[node]! - tree.level[zoomed]!;
  const ms = (us: number) => us / 1000 / Math.max(1, tree.views);
  const link = linkOf?.(node);
  const name = visible(cut(frame.name || '(anonymous)', 120));
  return (
    <tr
      tabIndex={isCurrent ? 0 : -1}
      aria-level={depth}
      aria-expanded={leaf ? undefined : open}
      class={found?.frames[tree.frame[node]!] ? 'found' : undefined}
      onKeyDown={(event) => press(event, at, node)}
      onFocus={onFocus}
    >
      <th scope="row">
        <span class="tree-name" style={{ paddingInlineStart: `${Math.min(depth - 1, 40) * 14}px` }}>
          <button type="button" tabIndex={-1} aria-hidden="true" class="tree-toggle" onClick={() => toggle(node)}>
            {leaf ? '' : open ? '▾' : '▸'}
          </button>
          {isOther(tree, node) && onOpen ? (
            <button type="button" tabIndex={-1} onClick={() => onOpen(node)}>
              (other): show what it is
            </button>
          ) : link ? (
            <a href={link} tabIndex={-1}>
              <bdi>{name}</bdi>
            </a>
          ) : (
            <bdi>{name}</bdi>
          )}
          {frame.resource && (
            <span class="quiet">
              <bdi>{visible(cut(frame.resource, 100))}</bdi>
              {frame.line > 0 && `:${frame.line}`}
            </span>
          )}
        </span>
      </th>
      <td>{amount(ms(tree.total[node]!))}</td>
      <td>{amount(ms(tree.self[node]!))}</td>
      <td>{percent(tree.total[0]! ? tree.total[node]! / tree.total[0]! : 0)}</td>
      {tree.baseTotal && <td>{signed(changeOf(tree, node))}</td>}
    </tr>
  );
}
