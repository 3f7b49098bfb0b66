// The elements of a page's Web Vitals, and the parts of the vitals.

import { useState } from 'preact/hooks';
import type { VitalElement, VitalPart, VitalReport } from '../../api/types.ts';
import { linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import type { Term } from '../../widgets/meanings.ts';
import { duration, percent, plural } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { inUnitOf, useVitals } from './Vitals.tsx';

/**
 * An element of a vital. Without an element, the row has the page views that no other row contains.
 */
export interface Row {
  vital: VitalReport;
  element?: VitalElement;
  /** Share of all page views that reported the vital. */
  share: number;
}

/** Number of elements that are shown at first, per vital. */
const few = 3;

/** Returns the rows of vitals: the elements of each, and a row for the remaining page views. */
export function rowsOf(vitals: readonly VitalReport[], all: boolean): Row[] {
  return vitals.flatMap((vital) => {
    const shown = (vital.elements ?? []).slice(0, all ? undefined : few);
    if (!shown.length) return [];
    const rest = 1 - shown.reduce((sum, { share }) => sum + share, 0);
    const rows: Row[] = shown.map((element) => ({ vital, element, share: element.share }));
    return rest < 0.0005 ? rows : [...rows, { vital, share: rest }];
  });
}

const others = ({ vital: { elements = [], more_elements: more = 0 } }: Row, all: boolean) => {
  const hidden = more + Math.max(0, all ? 0 : elements.length - few);
  return hidden ? `${plural(hidden, 'other')} or unknown` : 'unknown';
};

/** The panel of elements and parts; nothing if none were reported. */
export function Elements() {
  const { place, selection } = useView();
  const { query, shown, of } = useVitals();
  const [all, setAll] = useState(false);
  const rows = rowsOf(of, all);
  if (!rows.length) return null;
  /** Links to the functions that ran before LCP, or during the interaction. */
  const link = ({ vital, element }: Row) => {
    const label = { lcp: 'phase=before-lcp', inp: `interaction=${element?.element}` }[vital.name];
    return label && linkHere(place, { label: [...selection.label, label] });
  };
  const columns: Column<Row>[] = [
    {
      key: 'element',
      title: 'element',
      term: 'element' as Term,
      text: true,
      cell: (row) => {
        if (!row.element) return <span class="quiet">{others(row, all)}</span>;
        const to = link(row);
        return to ? <a href={to}>{row.element.element}</a> : row.element.element;
      },
    },
    { key: 'vital', title: 'vital', text: true, cell: ({ vital }) => vital.name.toUpperCase() },
    { key: 'share', title: 'page views', cell: ({ share }) => percent(share) },
    {
      key: 'p75',
      title: 'p75',
      term: 'p75',
      cell: ({ vital, element }) => element && inUnitOf(vital, element.p75.value),
    },
    {
      key: 'rating',
      title: 'rating',
      text: true,
      cell: ({ element }) =>
        element && <span class={`rated ${element.rating.replaceAll(' ', '-')}`}>{element.rating}</span>,
    },
    {
      key: 'parts',
      title: 'breakdown',
      term: 'parts' as Term,
      text: true,
      wide: true,
      cell: ({ element }) => <Parts of={element?.parts ?? []} />,
    },
  ];
  const hidden = of.some(({ elements = [] }) => elements.length > few);
  return (
    <Panel title="Elements behind the Web Vitals" query={query} shown={shown} class="elements">
      <Table
        caption="Elements of Web Vitals"
        columns={columns}
        rows={rows}
        rowKey={({ vital, element }) => `${vital.name} ${element?.element}`}
        order=""
      />
      {hidden && (
        <button type="button" class="quiet" onClick={() => setAll(!all)}>
          {all ? 'Fewer elements' : 'More elements'}
        </button>
      )}
    </Panel>
  );
}

/** The 75th percentile of each part. The largest part is highlighted. */
function Parts({ of }: { of: readonly VitalPart[] }) {
  const most = Math.max(...of.map(({ p75 }) => p75.value));
  return (
    <>
      {of.map(({ name, p75 }, i) => {
        const text = `${name == 'ttfb' ? 'TTFB' : name.replace('-', ' ')} ${duration(p75.value)}`;
        return (
          <span key={name}>
            {i > 0 && ', '}
            {p75.value == most ? <b>{text}</b> : text}
          </span>
        );
      })}
    </>
  );
}
