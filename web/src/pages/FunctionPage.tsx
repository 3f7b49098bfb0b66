// A function: how much, since which release, who calls it, and what it calls.

import { around, catalog, top } from '../api/questions.ts';
import type { Place, Top, TopFunction } from '../api/types.ts';
import { useAnswer, useSettled } from '../state/answer.ts';
import { CallTree } from '../widgets/CallTree.tsx';
import { Interval, minViews } from '../widgets/Interval.tsx';
import { Metric } from '../widgets/Metric.tsx';
import { Remarks } from '../widgets/Notice.tsx';
import { releasesOf, type Marker } from '../widgets/lines.ts';
import { count, cut, duration, hours, moment, percent, visible } from '../widgets/numbers.ts';
import { Panel } from '../widgets/Panel.tsx';
import { Table, type Column } from '../widgets/Table.tsx';
import { inUnit, type Scale } from '../widgets/unit.ts';
import { useView } from './context.ts';
import { useScale } from './Kpis.tsx';
import { Text } from './names.tsx';
import './detail.css';

/** Functions are looked for among so many of the heaviest. */
const mostFunctions = 1000;
/** Releases that the trend goes back. */
const mostReleases = 6;

/** Returns the function that a URL names. */
export function functionOf(params: URLSearchParams): Place {
  const whole = (key: string) => Number(params.get(key)) || undefined;
  return {
    name: (params.get('name') ?? '').trim(),
    resource: params.get('resource') ?? undefined,
    line: whole('line'),
    column: whole('column'),
  };
}

/** Returns a function of an answer: at its place, or, where lines moved, the only one of its name and file. */
export function found(answer: Top | undefined, place: Place): TopFunction | undefined {
  const near = answer?.functions.filter((one) => one.name == place.name && (!place.resource || one.resource == place.resource));
  const same = near?.find((one) => one.line == place.line && one.column == place.column);
  return same ?? (near?.length == 1 ? near[0] : undefined);
}

/** What is known of a function. */
export function FunctionPage() {
  const { place, selection } = useView();
  const what = functionOf(place.params);
  const question = top(selection, { limit: mostFunctions });
  const shown = useAnswer(question);
  const row = found(shown.answer, what);
  const views = shown.answer?.views ?? 0;
  const scale = useScale(undefined);
  const wholeMs = shown.answer ? shown.answer.self_us / 1000 / Math.max(1, views) : 0;
  const own = { ...scale, population: views, wholeMs };
  return (
    <div class="page detail">
      <header class="title">
        <p class="quiet">function</p>
        <h1>
          <Text length={160}>{what.name || '(anonymous)'}</Text>
        </h1>
        <Source of={what} href={row?.source_url} />
      </header>
      <Panel title="Time per page view" question={question} shown={shown}>
        {(answer) => (
          <>
            {row ? (
              <FunctionKpis of={row} views={views} scale={own} />
            ) : (
              <p class="empty">It is not among the {count(mostFunctions)} heaviest functions of what is selected.</p>
            )}
            <Remarks noSpread={answer.no_spread} stats={answer.stats} />
          </>
        )}
      </Panel>
      <Releases of={what} />
      <div class="beside even">
        <Around direction="callers" of={what} scale={own} />
        <Around direction="callees" of={what} scale={own} />
      </div>
    </div>
  );
}

function Source({ of, href }: { of: Place; href?: string }) {
  const text = `${of.resource ?? ''}${of.line ? `:${of.line}:${of.column ?? 1}` : ''}`;
  const short = <code title={cut(text, 2000)}>{visible(cut(text, 120))}</code>;
  if (!href || !/^https?:/.test(href)) return short;
  return (
    <a href={href} target="_blank" rel="noreferrer">
      {short}
    </a>
  );
}

function FunctionKpis({ of, views, scale }: { of: TopFunction; views: number; scale: Scale }) {
  const ms = (us: number) => us / 1000 / Math.max(1, views);
  const between = (low?: number, high?: number) =>
    low == undefined || high == undefined ? 'no interval is known' : `${duration(low)} – ${duration(high)}`;
  return (
    <dl class={views < minViews ? 'metrics few' : 'metrics'}>
      <Metric name="Self" term="self" value={duration(ms(of.self_us))} beside={between(of.self?.mean.low, of.self?.mean.high)} />
      <Metric name="Total" term="total" value={duration(ms(of.total_us))} beside={between(of.total?.mean.low, of.total?.mean.high)} />
      <Metric name="Reach" term="reach" value={percent(Math.min(1, of.reach / Math.max(1, views)))} beside={`${count(of.reach)} of ${count(views)} views`} />
      {of.self && <Metric name="p75 where seen" term="p75" value={duration(of.self.p75.value)} beside={between(of.self.p75.low, of.self.p75.high)} />}
      <Metric name="Share" term="share" value={percent(scale.wholeMs ? ms(of.self_us) / scale.wholeMs : 0)} beside="of all JavaScript, self" />
      <Metric name="People’s time" term="userHours" value={hours(inUnit(ms(of.self_us), { ...scale, unit: 'hours' }))} beside="per day, self" />
    </dl>
  );
}

function Around({ direction, of, scale }: { direction: 'callers' | 'callees'; of: Place; scale: Scale }) {
  const { selection } = useView();
  const question = around(direction, selection, of, 1000);
  const shown = useAnswer(question);
  return (
    <Panel title={direction == 'callers' ? 'Who calls it' : 'What it calls'} question={question} shown={shown}>
      {(answer) => <CallTree answer={answer} scale={scale} kind={direction} />}
    </Panel>
  );
}

interface ReleaseRow {
  release: Marker;
  views: number;
  /** In ms per page view; undefined while it is not known. */
  of?: TopFunction;
}

/** The same function in the releases that there were. */
function Releases({ of }: { of: Place }) {
  const { selection } = useView();
  const settled = useSettled();
  const stored = useAnswer(settled ? catalog() : undefined);
  const releases = releasesOf(stored.answer, selection.page).slice(-mostReleases).reverse();
  const answers = Array.from({ length: mostReleases }, (_, i) => {
    const release = releases[i]?.name;
    return useAnswer(release ? top({ ...selection, release }, { limit: mostFunctions }) : undefined); // the number is fixed
  });
  const rows = releases.map((release, i) => {
    const answer = answers[i]?.answer;
    return { release, views: answer?.views ?? 0, of: found(answer, of) };
  });
  if (rows.length < 2) return null;
  const most = Math.max(0.01, ...rows.map((row) => row.of?.self?.mean.high ?? row.of?.self?.mean.value ?? 0));
  return (
    <Panel title="By release">
      <Table
        caption="The function in each release"
        columns={releaseColumns(most)}
        rows={rows}
        rowKey={(row) => row.release.name}
        order="-first"
      />
    </Panel>
  );
}

function releaseColumns(most: number): Column<ReleaseRow>[] {
  const { unit, days } = useView();
  const mean = (row: ReleaseRow, us: 'self' | 'total') =>
    row.of && { value: row.of[`${us}_us`] / 1000 / Math.max(1, row.views), ...row.of[us]?.mean };
  const cell = (row: ReleaseRow, us: 'self' | 'total') => {
    const of = mean(row, us);
    const scale = { unit: unit == 'share' ? ('ms' as const) : unit, days, population: row.views, wholeMs: 0 };
    return of ? <Interval of={of} scale={scale} views={row.views} most={us == 'self' ? most : undefined} /> : <span class="quiet">not seen</span>;
  };
  return [
    { key: 'name', title: 'release', text: true, value: (row) => row.release.name, cell: (row) => <Text>{row.release.name}</Text> },
    { key: 'first', title: 'first seen', text: true, value: (row) => row.release.time, cell: (row) => moment(row.release.time) },
    { key: 'self', title: 'self', term: 'self', value: (row) => mean(row, 'self')?.value, cell: (row) => cell(row, 'self') },
    { key: 'total', title: 'total', term: 'total', value: (row) => mean(row, 'total')?.value, cell: (row) => cell(row, 'total') },
    {
      key: 'reach',
      title: 'reach',
      term: 'reach',
      value: (row) => row.of && row.of.reach / Math.max(1, row.views),
      cell: (row) => (row.of ? percent(Math.min(1, row.of.reach / Math.max(1, row.views))) : '–'),
    },
    { key: 'views', title: 'views', term: 'views', value: (row) => row.views, cell: (row) => count(row.views) },
  ];
}
