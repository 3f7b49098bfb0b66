// A complete flame graph: search, colours, details of the pointed call, keys, menus, and the same
// tree as rows.

import { useCallback, useLayoutEffect, useMemo } from 'preact/hooks';
import type { Colouring } from '../tree/colour.ts';
import { count, nameOf, share, type Unit } from '../tree/format.ts';
import { isOther, keyOfOther } from '../tree/other.ts';
import { shaped, unshaped, type Shape } from '../tree/shape.ts';
import type { Frame, Tree } from '../tree/tree.ts';
import { actionsOf } from './actions.ts';
import { useControls, useSearch } from './controls.ts';
import { KeysDialog } from './KeysDialog.tsx';
import { keyList } from './keys.ts';
import { layoutOf, type Widths } from './layout.ts';
import { Legend } from './Legend.tsx';
import { Menu, type FlameAction } from './Menu.tsx';
import { numbersOf } from './numbers.ts';
import { Removed } from './Removed.tsx';
import { SearchBox } from './SearchBox.tsx';
import { useSetting } from './setting.ts';
import { ShapeChips } from './ShapeChips.tsx';
import { useDark } from './theme.ts';
import { Tools, type View } from './Tools.tsx';
import { Treegrid } from './Treegrid.tsx';
import { useSelection, useZoom } from './zoom.ts';
import { ZoomedGraph } from './ZoomedGraph.tsx';

/**
 * Properties of a flame graph. A property with a callback is controlled by the page, or by the
 * component if it is undefined.
 */
export interface FlameGraphProps {
  tree: Tree;
  /** The subject of the tree for screen readers: 'page /feed'. */
  label: string;
  /** The name of the root. */
  title?: string;
  unit?: Unit;
  /** All page views of a day, required to show hours. */
  viewsPerDay?: number;
  /**
   * A value that changes with the theme; needed unless the theme is set by an attribute of the root
   * element or by the system.
   */
  theme?: string;
  /** By default owner, or change if there is another side. */
  colouring?: Colouring;
  onColouring?(colouring: Colouring): void;
  /** Graph, rows, or both side by side. */
  view?: View;
  onView?(view: View): void;
  /** Whether callers are at the bottom, as in a flame. */
  upwards?: boolean;
  onUpwards?(upwards: boolean): void;
  /** The side of a comparison that determines widths. */
  widths?: Widths;
  onWidths?(widths: Widths): void;
  search?: string;
  onSearch?(text: string): void;
  /** The key of the zoomed node, '' for the root. */
  zoom?: string;
  onZoom?(key: string): void;
  shape?: Shape;
  onShape?(shape: Shape): void;
  /** Shows the contents of an (other) node. key is the root for a query of the API. */
  onOpenOther?(key: string): void;
  /** Shows callers and callees. */
  onSandwich?(frame: Frame): void;
  /** Further actions in the menu of a call. */
  actions?: readonly FlameAction[];
}

/** Draws a tree, with navigation by pointer, touch and keys. */
export function FlameGraph(props: FlameGraphProps) {
  const flame = useFlame(props);
  const { tree, layout, numbers, colouring, dark, search, found, selected, zoom, view, title } = flame;
  const { input, canvas, menu, setMenu, keys, showKeys, leave, step, press } = useControls(
    found,
    selected,
    flame.select,
  );
  const frame = menu && tree.frames[tree.frame[menu.node]!];
  return (
    <div class="flame" onKeyDown={press}>
      <div class="flame-tools">
        <SearchBox
          label={props.label}
          {...{ search, found, numbers, input }}
          text={flame.text}
          onText={flame.setText}
          onStep={step}
          onLeave={leave}
        />
        <Tools {...flame} compared={numbers.compared} onKeys={() => showKeys(true)} />
      </div>
      <ShapeChips tree={props.tree} shape={flame.shape} onShape={flame.setShape} />
      <div class={`flame-views flame-view-${view}`}>
        {view != 'rows' && (
          <ZoomedGraph
            {...flame}
            label={labelOf(tree, props.label)}
            canvas={canvas}
            onStep={step}
            onActivate={flame.activate}
            onMenu={(node, x, y) => setMenu({ node, x, y })}
            onSandwich={flame.sandwich}
          />
        )}
        {view != 'graph' && (
          <Treegrid
            {...{ tree, numbers, found, selected }}
            zoomed={zoom.node}
            label={props.label}
            onSelect={flame.select}
            onActivate={flame.activate}
          />
        )}
      </div>
      <p class="flame-unseen" role="status">
        {selected > 0 ? spoken(tree, selected, numbers) : title}
      </p>
      {view != 'rows' && <Legend {...{ tree, colouring, dark }} />}
      {numbers.compared && <Removed {...{ tree, numbers }} />}
      {menu && frame && (
        <Menu
          {...menu}
          frame={frame}
          actions={actionsOf(flame, props, menu.node)}
          onClose={() => (setMenu(undefined), leave())}
        />
      )}
      {keys && <KeysDialog of="flame graph" keys={keyList} onClose={() => (showKeys(false), leave())} />}
    </div>
  );
}

function labelOf(tree: Tree, label: string): string {
  return (
    `Flame graph of ${label}, ${count(tree.frame.length - 1)} calls. Arrow keys move between calls, Enter ` +
    `zooms, question mark lists all keys.`
  );
}

function spoken(tree: Tree, node: number, numbers: ReturnType<typeof numbersOf>): string {
  const difference = numbers.compared ? `, change ${numbers.change(node)}` : '';
  const part = share(numbers.shareOf(node, 0));
  return (
    `${nameOf(tree.frames[tree.frame[node]!]!, 120)}: total ${numbers.total(node)}, ${part} of all, self ` +
    `${numbers.self(node)}${difference}`
  );
}

/** Holds the state of a flame graph that the page does not control. */
function useFlame(props: FlameGraphProps) {
  const { onOpenOther, onSandwich, unit = 'ms', viewsPerDay, title = 'all' } = props;
  const [shape, setShape] = useSetting(props.shape, unshaped, props.onShape);
  const tree = useMemo(() => shaped(props.tree, shape), [props.tree, shape]);
  const first: Colouring = tree.baseTotal ? 'change' : 'owner';
  const [colouring, setColouring] = useSetting(props.colouring, first, props.onColouring);
  const [widths, setWidths] = useSetting<Widths>(props.widths, 'B', props.onWidths);
  const [upwards, setUpwards] = useSetting(props.upwards, false, props.onUpwards);
  const [view, setView] = useSetting<View>(props.view, 'graph', props.onView);
  const [text, setText] = useSetting(props.search, '', props.onSearch);
  const { search, found } = useSearch(tree, text);
  const layout = useMemo(() => layoutOf(tree, widths), [tree, widths]);
  const numbers = useMemo(() => numbersOf(tree, unit, viewsPerDay), [tree, unit, viewsPerDay]);
  const zoom = useZoom(tree, props.zoom, props.onZoom);
  const [selected, select] = useSelection(tree);
  const dark = useDark(props.theme);
  const zoomTo = useCallback((node: number) => zoom.to(node), [zoom]);
  useLayoutEffect(() => {
    if (selected != zoom.node) select(zoom.node);
  }, [zoom.node]);
  return {
    tree,
    layout,
    numbers,
    title,
    dark,
    search,
    found,
    zoom,
    selected,
    select,
    shape,
    setShape,
    colouring: colouring == 'change' && !tree.baseTotal ? 'owner' : colouring,
    setColouring,
    widths,
    setWidths,
    upwards,
    setUpwards,
    view,
    setView,
    text,
    setText,
    /** Opens an (other) node, or zooms to any other node. */
    activate: (node: number) => {
      const key = keyOfOther(tree, node);
      if (key && onOpenOther) onOpenOther(key);
      else zoomTo(node);
    },
    sandwich: (node: number) => {
      const frame = tree.frames[tree.frame[node]!];
      if (frame && !isOther(frame)) onSandwich?.(frame);
    },
  };
}
