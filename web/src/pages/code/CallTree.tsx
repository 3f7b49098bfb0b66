// The place for a page's call tree. Its state is in the URL, and its code is loaded when there is a
// tree.

import { useEffect, useMemo, useState } from 'preact/hooks';
import type { FlameGraph, FlameGraphProps } from '../../flame/FlameGraph.tsx';
import { change, go } from '../../state/location.ts';
import { linkTo, type Place } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import type { Colouring } from '../../tree/colour.ts';
import { treeOf, type Frame, type Tree, type TreeResponse } from '../../tree/tree.ts';
import { number } from '../../widgets/numbers.ts';
import type { Scale } from '../../widgets/unit.ts';
import { budgetYaml } from './budget-yaml.ts';
import '../../flame/flame.css';
import '../../flame/treegrid.css';

interface Props {
  response: TreeResponse;
  scale: Scale;
  /**
   * The kind of tree: calls from the root, or the callers or callees of the function at its root.
   */
  kind?: 'tree' | 'callers' | 'callees';
}

const colourings: readonly Colouring[] = ['owner', 'file', 'self', 'change'];

/** A call tree as a flame graph or as rows. */
export function CallTree({ response, scale, kind = 'tree' }: Props) {
  const { place } = useView();
  const [Graph, setGraph] = useState<typeof FlameGraph>();
  useEffect(() => void import('../views/drawn.ts').then((loaded) => setGraph(() => loaded.FlameGraph)), []);
  const tree = useMemo(() => treeOf(response), [response]);
  const prefix = kind == 'tree' ? '' : `${kind}-`; // the page of a function has two
  const root = place.params.get(`${prefix}root`) ?? '';
  const actions = useMemo(
    () => [{ label: 'Copy a budget (YAML)', run: (frame: Frame) => void copyBudget(tree, frame, place) }],
    [tree, place],
  );
  const held = useMemo(() => heldIn(place, prefix, !!tree.baseTotal), [place, prefix, tree]);
  if (!response.label.length) return <p class="empty">No calls.</p>;
  return (
    <>
      {root && (
        <p>
          <button type="button" onClick={() => change({ [`${prefix}root`]: '', [`${prefix}zoom`]: '' })}>
            Back to all stacks
          </button>
        </p>
      )}
      {Graph && (
        <Graph
          tree={tree}
          label={kind == 'tree' ? titleOf(place) : `${kind} of ${place.params.get('name') || '(anonymous)'}`}
          title={kind == 'tree' ? 'all' : kind}
          unit={scale.unit}
          viewsPerDay={scale.hoursPerMs * 3.6e6}
          {...held}
          actions={place.route == 'file' ? undefined : actions}
          onSandwich={place.route == 'file' ? undefined : (frame) => go(functionLink(place, frame))}
        />
      )}
      {!!response.own_us && (
        <p class="hint">
          Profiling itself took {number(response.own_us / 1000 / Math.max(1, response.views))} ms per page view (not
          included).
        </p>
      )}
    </>
  );
}

function titleOf({ params }: Place): string {
  const page = params.get('page');
  const feature = params.get('feature');
  return page ? `page ${page}` : feature ? `feature ${feature}` : params.get('title') || 'all pages';
}

/** Copies a budget for a function. It does nothing without a clipboard, as on insecure pages. */
async function copyBudget(tree: Tree, frame: Frame, { params }: Place): Promise<void> {
  const [page, feature] = [params.get('page') ?? '', params.get('feature') ?? ''];
  await navigator.clipboard?.writeText(budgetYaml(tree, frame, { page, feature }));
}

/** Returns the state of a graph in the URL, and setters for it. */
function heldIn({ params }: Place, prefix: string, compared: boolean): Partial<FlameGraphProps> {
  const get = (key: string) => params.get(prefix + key) ?? '';
  const list = (key: string) => params.getAll(prefix + key);
  const set = (changes: Record<string, string | readonly string[]>, replace = false) =>
    change(Object.fromEntries(Object.entries(changes).map(([key, value]) => [prefix + key, value])), replace);
  const colouring = colourings.find((one) => one == get('colour')) ?? (compared ? 'change' : 'owner');
  const view = get('view');
  const width = get('width');
  return {
    colouring,
    onColouring: (colour) => set({ colour }),
    view: view == 'rows' || view == 'both' ? view : 'graph',
    onView: (next) => set({ view: next == 'graph' ? '' : next }),
    upwards: get('up') == '1',
    onUpwards: (upwards) => set({ up: upwards ? '1' : '' }),
    widths: width == 'A' || width == 'max' ? width : 'B',
    onWidths: (widths) => set({ width: widths == 'B' ? '' : widths }),
    search: get('search'),
    onSearch: (search) => set({ search }, true),
    zoom: get('zoom'),
    onZoom: (zoom) => set({ zoom }),
    shape: { merged: get('merge') == '1', hidden: list('hide'), focused: list('focus') },
    onShape: ({ merged, hidden, focused }) => set({ merge: merged ? '1' : '', hide: hidden, focus: focused, zoom: '' }),
    onOpenOther: (root) => set({ root, zoom: '' }),
  };
}

/** Returns the URL of a function's page. */
function functionLink(place: Place, { name, resource, line, column }: Frame): string {
  const { params } = place;
  return linkTo(place, 'function', {
    page: params.get('page') ?? '',
    feature: params.get('feature') ?? '',
    name,
    resource,
    line,
    column,
  });
}
