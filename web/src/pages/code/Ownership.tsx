// Whose code takes the time: owners, packages, third parties, and time outside JavaScript.

import { series, top } from '../../api/queries.ts';
import type { Top, TopFunction } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkHere } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { NamesRemark } from '../../widgets/Notice.tsx';
import { count, hours, percent } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table, type Column } from '../../widgets/Table.tsx';
import { amount, inUnit, ofPage, unitTitle, type Scale } from '../../widgets/unit.ts';
import { Kinds } from '../parts/Kinds.tsx';
import { useScale } from '../parts/Kpis.tsx';
import { Text } from '../parts/names.tsx';
import { TopPanel } from './Breakdown.tsx';
import '../parts/detail.css';

/** Descriptions of the kinds of owners, which responses write in parentheses. */
const kinds: Record<string, string> = {
  app: 'your own code',
  framework: 'frameworks in your bundles',
  package: 'packages in your bundles',
  runtime: 'code added by bundlers',
  'third-party': 'scripts of other hosts',
  browser: 'layout, style and other work of the browser',
  extension: 'extensions of browsers',
  unmapped: 'scripts without symbols',
  fieldtrie: 'the profiling script, not in the totals',
};

/** Returns the kind of an owner such as (framework react-dom). */
export function kindOf(owner: string): string {
  if (owner == '(package fieldtrie)') return 'fieldtrie';
  return /^\(([\w-]+)/.exec(owner)?.[1] ?? 'team';
}

/** The parts of the code by which functions can be summed up. */
const parts = ['package', 'owner', 'team', 'file', 'function'] as const;

interface Row {
  kind: string;
  ms: number;
  us: number;
  reach: number;
  parts: TopFunction[];
}

/** Sums owners by kind. The reach is the largest reach of an owner, which is a lower bound. */
export function byKind(owners: readonly TopFunction[], views: number): Row[] {
  const rows = new Map<string, Row>();
  for (const owner of owners) {
    const kind = kindOf(owner.name);
    const row = rows.get(kind) ?? { kind, ms: 0, us: 0, reach: 0, parts: [] };
    row.us += owner.self_us;
    row.ms += owner.self_us / 1000 / Math.max(1, views);
    row.reach = Math.max(row.reach, owner.reach);
    row.parts.push(owner);
    rows.set(kind, row);
  }
  return [...rows.values()];
}

export function Ownership() {
  const { place, selection } = useView();
  const owners = top(selection, { by: 'owner', limit: 500 });
  const shown = useQuery(owners);
  const whole = useQuery(series(selection, { step: 'all' }));
  const point = whole.response?.groups[0]?.points[0];
  const scale = useScale(point);
  const by = parts.find((one) => one == place.params.get('by')) ?? 'package';
  return (
    <div class="page">
      <h1>Ownership</h1>
      <div class="beside">
        <Panel title="By kind of code" shown={shown}>
          {(response) => (
            <>
              <KindTable
                rows={byKind(response.functions, response.views)}
                views={response.views}
                allUs={ofPage(response)}
                scale={scale}
              />
              <NamesRemark names={response.stats.names} />
            </>
          )}
        </Panel>
        <div class="page">
          <Panel title="Profiled time per page view" shown={whole}>
            {() => point && <Kinds point={point} />}
          </Panel>
          <Panel title="Third parties by host" query={owners} shown={shown}>
            {(response) => <Hosts top={response} scale={scale} />}
          </Panel>
        </div>
      </div>
      <TopPanel by={by} scale={scale}>
        <nav class="segments" aria-label="Group by">
          {parts.map((one) => (
            <a key={one} href={linkHere(place, { by: one, sort: '' })} aria-current={one == by ? 'true' : undefined}>
              {one}
            </a>
          ))}
        </nav>
      </TopPanel>
    </div>
  );
}

function Hosts({ top, scale }: { top: Top; scale: Scale }) {
  const hosts = top.functions.filter(({ name }) => kindOf(name) == 'third-party');
  const columns: Column<TopFunction>[] = [
    {
      key: 'host',
      title: 'host',
      text: true,
      value: (row) => row.name,
      cell: (row) => <Text>{row.name.replace(/^\(third-party (.*)\)$/s, '$1')}</Text>,
    },
    {
      key: 'self',
      title: `self, ${unitTitle(scale.unit, scale.perDay).short}`,
      term: 'self',
      value: (row) => row.self_us,
      cell: (row) => amount(row.self_us / 1000 / Math.max(1, top.views), scale),
    },
    {
      key: 'reach',
      title: 'reach',
      term: 'reach',
      value: (row) => row.reach,
      cell: (row) => percent(Math.min(1, row.reach / Math.max(1, top.views))),
    },
  ];
  return (
    <>
      <Table
        caption="Third parties"
        columns={columns}
        rows={hosts}
        rowKey={(row) => row.name}
        order="-self"
        empty="No scripts of other hosts were sampled."
      />
      <p class="hint">Scripts of other hosts are only visible with CORS headers; the time of the rest has no stack.</p>
    </>
  );
}

function KindTable({ rows, views, allUs, scale }: { rows: Row[]; views: number; allUs: number; scale: Scale }) {
  const columns: Column<Row>[] = [
    {
      key: 'kind',
      title: 'kind',
      text: true,
      value: (row) => row.kind,
      cell: (row) => (
        <>
          <Text>{row.kind}</Text> <small class="quiet wide">{kinds[row.kind] ?? 'code of a team'}</small>
        </>
      ),
    },
    {
      key: 'ms',
      title: `self, ${unitTitle(scale.unit, scale.perDay).short}`,
      term: 'self',
      value: (row) => row.ms,
      cell: (row) => amount(row.ms, scale),
    },
    {
      key: 'share',
      title: 'share',
      term: 'share',
      value: (row) => row.us,
      cell: (row) => percent(row.us / (allUs || 1)),
    },
    {
      key: 'reach',
      title: 'reach, at least',
      term: 'reach',
      wide: true,
      value: (row) => row.reach,
      cell: (row) => percent(Math.min(1, row.reach / Math.max(1, views))),
    },
    {
      key: 'parts',
      title: 'parts',
      wide: true,
      value: (row) => row.parts.length,
      cell: (row) => count(row.parts.length),
    },
    {
      key: 'hours',
      title: unitTitle('hours', scale.perDay).short,
      term: 'userHours',
      wide: true,
      value: (row) => row.ms,
      cell: (row) => hours(inUnit(row.ms, { ...scale, unit: 'hours' })),
    },
  ];
  return <Table caption="Time by kind of code" columns={columns} rows={rows} rowKey={(row) => row.kind} order="-ms" />;
}
