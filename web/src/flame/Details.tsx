// Details of the pointed call, shown without delay and always in the same place, and the path to
// the zoomed call.

import { fullPlaceOf, nameOf, share } from '../tree/format.ts';
import type { Tree } from '../tree/tree.ts';
import type { Numbers } from './numbers.ts';

interface Props {
  tree: Tree;
  node: number;
  zoomed: number;
  numbers: Numbers;
  title: string;
  /** Opens the menu of the call below a button. */
  onMenu(button: HTMLElement): void;
  onZoom(node: number): void;
}

/** One call: its name, its place and its times. */
export function Details({ tree, node, zoomed, numbers, title, onMenu, onZoom }: Props) {
  const frame = tree.frames[tree.frame[node]!];
  const place = frame && fullPlaceOf(frame);
  return (
    <div class="flame-details">
      <p class="flame-call">
        <b title={frame?.name}>
          <bdi>{frame ? nameOf(frame, 120) : title}</bdi>
        </b>
        {place && (
          <span class="flame-place" title={frame.resource}>
            <bdi>{place}</bdi>
          </span>
        )}
      </p>
      <dl class="flame-numbers">
        {numbers.start && <Number name="start" value={numbers.start(node)} />}
        <Number name={numbers.start ? 'duration' : 'total'} value={numbers.total(node)} />
        <Number name="self" value={numbers.self(node)} />
        <Number part name="of all" value={share(numbers.shareOf(node, 0))} />
        {zoomed > 0 && isIn(tree, node, zoomed) && (
          <Number part name="of zoomed" value={share(numbers.shareOf(node, zoomed))} />
        )}
        {numbers.compared && <Number name="before" value={numbers.baseTotal(node)} />}
        {numbers.compared && <Number name="change" value={`${glyphOf(tree, node)}${numbers.change(node)}`} />}
      </dl>
      <button
        type="button"
        class="flame-button"
        aria-haspopup="menu"
        disabled={node <= 0}
        title={node <= 0 ? 'Select a call in the graph first' : undefined}
        onClick={(event) => onMenu(event.currentTarget)}
      >
        Actions
      </button>
      <Way tree={tree} zoomed={zoomed} title={title} onZoom={onZoom} />
    </div>
  );
}

/** Reports whether a call is another one or below it. */
function isIn(tree: Tree, node: number, other: number): boolean {
  while (tree.level[node]! > tree.level[other]!) node = tree.parent[node]!;
  return node == other;
}

function Number({ name, value, part = false }: { name: string; value: string; part?: boolean }) {
  return (
    <div class={part ? 'flame-part' : undefined}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function glyphOf(tree: Tree, node: number): string {
  const difference =
    tree.total[node]! / Math.max(1, tree.views) - (tree.baseTotal?.[node] ?? 0) / Math.max(1, tree.baseViews);
  return Math.abs(difference) < 0.5 ? '' : difference > 0 ? '▲ ' : '▼ ';
}

/** Number of the zoomed call's callers that have buttons. */
const near = 3;

/** The callers of the zoomed call. */
function Way({ tree, zoomed, title, onZoom }: Pick<Props, 'tree' | 'zoomed' | 'title' | 'onZoom'>) {
  const callers: number[] = [];
  for (let at = tree.parent[zoomed]!; at > 0; at = tree.parent[at]!) callers.push(at);
  const shown = callers.slice(0, near).reverse();
  const name = (node: number) => <bdi>{nameOf(tree.frames[tree.frame[node]!]!, 40)}</bdi>;
  return (
    <nav class="flame-way" aria-label={`Path from ${title} to the zoomed call`}>
      <ol>
        <li>
          {zoomed == 0 ? (
            <span aria-current="true">{title}</span>
          ) : (
            <button type="button" onClick={() => onZoom(0)}>
              {title}
            </button>
          )}
        </li>
        {callers.length > near && <li>{callers.length - near} more</li>}
        {shown.map((node) => (
          <li key={node}>
            <button type="button" onClick={() => onZoom(node)}>
              {name(node)}
            </button>
          </li>
        ))}
        {zoomed > 0 && (
          <li>
            <span aria-current="true">{name(zoomed)}</span>
          </li>
        )}
      </ol>
    </nav>
  );
}
