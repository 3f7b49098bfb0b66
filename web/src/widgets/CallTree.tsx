// Where the call tree of a page is drawn: as a flame graph or as rows, with what is searched for, and how it is coloured.

import { useMemo, useRef } from 'preact/hooks';
import { FlameGraph } from '../flame/FlameGraph.tsx';
import { Rows } from '../flame/Rows.tsx';
import { useView } from '../pages/context.ts';
import { change } from '../state/location.ts';
import { linkTo } from '../state/url.ts';
import type { Colouring } from '../tree/colour.ts';
import { keyOf, nodeWith, stackOf } from '../tree/key.ts';
import { find, searchOf } from '../tree/search.ts';
import { treeOf, type Tree, type TreeAnswer } from '../tree/tree.ts';
import { percent, plural } from './numbers.ts';
import { Popover } from './Popover.tsx';
import { amount, type Scale } from './unit.ts';

interface Props {
  answer: TreeAnswer;
  scale: Scale;
  /** Of a function: who calls it, or what it calls. */
  kind?: 'callers' | 'callees';
}

const colourings: Record<Exclude<Colouring, 'change'>, string> = { owner: 'owner', file: 'file', self: 'own time' };

/** A call tree, with what is looked at in the URL. */
export function CallTree({ answer, scale, kind }: Props) {
  const name = kind ? `${kind}-` : ''; // there are two on the page of a function
  const title = kind ?? 'all';
  const { place } = useView();
  const tree = useMemo(() => treeOf(answer), [answer]);
  const param = (key: string) => place.params.get(name + key) ?? '';
  const set = (key: string, value: string, replace = false) => change({ [name + key]: value }, replace);
  const input = useRef<HTMLInputElement>(null);
  const text = param('search');
  const search = useMemo(() => searchOf(text), [text]);
  const found = useMemo(() => (text && !search.problem ? find(tree, search) : undefined), [tree, text, search]);
  const zoomKey = param('zoom');
  const zoomed = useMemo(() => (zoomKey ? nodeWith(tree, zoomKey) : 0), [tree, zoomKey]);
  const colouring: Colouring = tree.baseTotal ? 'change' : param('colour') in colourings ? (param('colour') as Colouring) : 'owner';
  const rows = param('view') == 'rows';
  const shared = {
    tree,
    found,
    zoomed,
    title,
    amount: (ms: number) => amount(ms, scale) + (scale.unit == 'ms' ? ' ms' : ''),
    linkOf: (node: number) => linkOf(tree, node, place),
    onOpen: (node: number) => set('root', keyOf(stackOf(tree, tree.parent[node]!))),
  };
  const focusSearch = (event: KeyboardEvent) => {
    if (event.key != '/' || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    input.current?.focus();
  };
  return (
    <div class="call-tree" onKeyDown={focusSearch}>
      <div class="flame-tools">
        <input
          ref={input}
          type="search"
          placeholder="Search: a text, or /an expression/"
          aria-label="Search for functions"
          value={text}
          onInput={(event) => set('search', event.currentTarget.value, true)}
        />
        {text && <output class="quiet">{search.problem ?? foundText(tree, found, shared.amount)}</output>}
        <div class="segments" role="group" aria-label="Show as">
          {(['graph', 'rows'] as const).map((view) => (
            <button key={view} type="button" aria-pressed={rows == (view == 'rows')} onClick={() => set('view', view == 'rows' ? view : '')}>
              {view == 'rows' ? 'Rows' : 'Graph'}
            </button>
          ))}
        </div>
        {!tree.baseTotal && !rows && (
          <label>
            Colour by{' '}
            <select value={colouring} onChange={(event) => set('colour', event.currentTarget.value)}>
              {Object.entries(colourings).map(([key, label]) => (
                <option key={key} value={key}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        )}
        {param('root') && (
          <button type="button" onClick={() => change({ [`${name}root`]: '', [`${name}zoom`]: '' })}>
            Back to all stacks
          </button>
        )}
        {!rows && <Keys />}
      </div>
      {rows ? (
        <Rows key={zoomKey} {...shared} />
      ) : (
        <FlameGraph {...shared} colouring={colouring} onZoom={(node) => set('zoom', node ? keyOf(stackOf(tree, node)) : '')} />
      )}
    </div>
  );
}

function foundText(tree: Tree, found: ReturnType<typeof find> | undefined, write: (ms: number) => string): string {
  if (!found?.functions) return 'nothing is called so';
  const ms = found.total / 1000 / Math.max(1, tree.views);
  return `${plural(found.functions, 'function')}, ${write(ms)}, ${percent(tree.total[0] ? found.total / tree.total[0]! : 0)}`;
}

/** The page of a function, with its callers and callees. */
function linkOf(tree: Tree, node: number, place: Parameters<typeof linkTo>[0]): string | undefined {
  const frame = tree.frames[tree.frame[node]!];
  if (!frame || frame.name == '(other)' || place.route == 'file') return undefined;
  const { name, resource, line, column } = frame;
  return linkTo(place, 'function', { page: place.params.get('page') ?? '', feature: place.params.get('feature') ?? '', name, resource, line, column });
}

const keys = [
  ['← → ↑ ↓', 'from call to call'],
  ['Enter', 'make the call as wide as the picture; open (other)'],
  ['Escape', 'show all'],
  ['Backspace', 'back to the caller'],
  ['w s', 'closer, farther'],
  ['a d', 'left, right'],
  ['/', 'search'],
  ['n p', 'next and previous match'],
] as const;

function Keys() {
  return (
    <Popover label="Keys" button="?">
      <dl class="keys">
        {keys.map(([key, what]) => [<dt key={key}>{key}</dt>, <dd key={what}>{what}</dd>])}
      </dl>
    </Popover>
  );
}
