// A detected change, with its days, possible causes, and triage.

import { useState } from 'preact/hooks';
import { change } from '../../api/queries.ts';
import type { ChangeReport, ChangeState, Commit } from '../../api/types.ts';
import { mayAsk } from '../../state/login.ts';
import { useQuery } from '../../state/responses.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { count, moment, number } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Table } from '../../widgets/Table.tsx';
import { Trend } from '../../widgets/Trend.tsx';
import { FunctionLink, PlaceLink, Text } from '../parts/names.tsx';
import { amountOf, endOf, hourly, shownOf, sinceOf, textOf, valueOf } from './words.ts';

/** A commit that edited the file of a cause. */
function CommitLine({ of: { sha, author, title, url } }: { of: Commit }) {
  const short = sha.slice(0, 7);
  return (
    <div>
      <small class="quiet">
        {url ? <a href={url}>{short}</a> : short} <Text length={120}>{title ?? ''}</Text>
        {author && (
          <>
            , <Text length={60}>{author}</Text>
          </>
        )}
      </small>
    </div>
  );
}

/** A change in full. */
export function OneChange({ id }: { id: string }) {
  const { place } = useView();
  const asked = change(id);
  const shown = useQuery(asked);
  return (
    <div class="page">
      <p class="quiet">
        <a href={linkTo(place, 'changes')}>All changes</a>
      </p>
      <h1>{shown.response ? <Text length={200}>{shown.response.title}</Text> : 'Change'}</h1>
      <Panel title="What changed" query={asked} shown={shown}>
        {(report) => <Facts of={report} />}
      </Panel>
      {shown.response && (
        <>
          <Hours of={shown.response} />
          <Days of={shown.response} />
          <Pages of={shown.response} />
          <Doing key={shown.response.state} of={shown.response} done={shown.again} />
        </>
      )}
    </div>
  );
}

function Facts({ of }: { of: ChangeReport }) {
  const { place } = useView();
  const { what, pages, release, compare_release, causes = [], causes_note, handled } = of;
  const first = pages[0]!;
  const { estimate, atRest } = shownOf(first);
  return (
    <dl class="change-facts">
      <dt>state</dt>
      <dd>
        {of.state}
        {of.state == 'resolved' && `: ${endOf(of)}`}
        {handled && (
          <small class="quiet">
            {' '}
            <Text>{[handled.by, handled.note].filter(Boolean).join(': ')}</Text> {moment(handled.at)}
            {handled.until && `, until ${moment(handled.until)}`}
          </small>
        )}
      </dd>
      <dt>since</dt>
      <dd>
        {moment(of.begin)}, <Text>{sinceOf(of)}</Text>
      </dd>
      <dt>change</dt>
      <dd>
        <span class={of.direction == 'moved' ? '' : of.direction}>{amountOf(what, estimate)}</span>, from{' '}
        {valueOf(what, first.value.a)} to {valueOf(what, first.value.b)} per page view on{' '}
        <PlaceLink kind="page" name={first.page} />
        {atRest && `; adjusted for longer or shorter page views, unadjusted ${amountOf(what, first.change)}`}
      </dd>
      {what.function && (
        <>
          <dt>function</dt>
          <dd>
            <FunctionLink of={what.function} href={causes[0]?.source_url} />
            <small class="quiet">
              {' '}
              <Text>{[of.owner, of.team].filter(Boolean).join(', ')}</Text>
            </small>
          </dd>
        </>
      )}
      <dt>causes</dt>
      <dd>
        {causes.map((cause) => (
          <div key={cause.text}>
            <Text length={300}>{cause.text}</Text>
            {cause.commits?.map((commit) => (
              <CommitLine key={commit.sha} of={commit} />
            ))}
          </div>
        ))}
        {!causes.length && <Text length={300}>{causes_note || 'No cause is known.'}</Text>}
      </dd>
      {release && compare_release && (
        <>
          <dt>details</dt>
          <dd>
            <a href={linkTo(place, 'compare', { page: first.page, release, compare_release })}>Compare the releases</a>
            {', '}
            <a href={linkTo(place, 'compare', { page: first.page, release, compare_release, tab: 'flame' })}>
              their flame graphs
            </a>
          </dd>
        </>
      )}
    </dl>
  );
}

/** The hours around the step. Hours without page views of a release interrupt its line. */
function Hours({ of: { series, release, begin } }: { of: ChangeReport }) {
  const lines = series?.hours ?? [];
  const times = lines.flatMap(({ points }) => points.map(({ time }) => Date.parse(time)));
  if (!series || series.unit != 'ms' || times.length < 2) return null;
  const hour = 3_600_000;
  return (
    <Panel title="By hour, around the step" beside={<Text>{series.page}</Text>} class="hours">
      <Trend
        lines={lines.map((line) => ({ name: line.release || 'all page views', samples: hourly(line.points) }))}
        markers={[{ name: release ?? 'the step', time: Date.parse(begin) }]}
        from={Math.min(...times)}
        to={Math.max(...times) + hour}
        height={220}
      />
    </Panel>
  );
}

function Days({ of }: { of: ChangeReport }) {
  const { series, what } = of;
  if (!series || !series.points.length) return null;
  const samples = (of: 'value' | 'low' | 'high') =>
    series.points.map(({ time, value }) => ({ time: Date.parse(time), value: value[of] }));
  const day = 86_400_000;
  const from = Date.parse(series.points[0]!.time);
  const to = Math.max(Date.parse(series.points.at(-1)!.time), from + day);
  const markers = series.releases.map(({ release, begin }) => ({ name: release, time: Date.parse(begin) }));
  return (
    <Panel title="By day" beside={<Text>{series.page}</Text>}>
      {series.unit == 'ms' && (
        <Trend
          lines={[
            { name: what.kind == 'vital' ? '75th percentile' : 'mean', samples: samples('value') },
            { name: 'lower bound (95 %)', samples: samples('low') },
            { name: 'upper bound (95 %)', samples: samples('high') },
          ]}
          markers={markers}
          from={from}
          to={to}
        />
      )}
      <Table
        caption="Days"
        columns={[
          { key: 'time', title: 'day', text: true, value: (row) => row.time, cell: ({ time }) => time.slice(0, 10) },
          {
            key: 'value',
            title: 'value',
            value: (row) => row.value.value,
            cell: ({ value }) => valueOf(what, value.value),
          },
          {
            key: 'interval',
            title: '95 % interval',
            cell: ({ value: { low, high } }) =>
              low == undefined || high == undefined ? (
                <span class="quiet">not known</span>
              ) : (
                `${number(low)} to ${number(high)}`
              ),
          },
          { key: 'views', title: 'page views', value: (row) => row.views, cell: ({ views }) => count(views) },
        ]}
        rows={series.points}
        rowKey={(row) => row.time}
        order="-time"
      />
    </Panel>
  );
}

function Pages({ of }: { of: ChangeReport }) {
  const { what, pages, consequences = [], moved = [] } = of;
  const others = [...consequences, ...moved];
  return (
    <Panel title="Affected pages">
      <Table
        caption="Pages"
        columns={[
          {
            key: 'page',
            title: 'page',
            text: true,
            value: (row) => row.page,
            cell: ({ page }) => <PlaceLink kind="page" name={page} />,
          },
          {
            key: 'before',
            title: 'before',
            wide: true,
            value: (row) => row.value.a,
            cell: ({ value }) => valueOf(what, value.a),
          },
          {
            key: 'after',
            title: 'after',
            wide: true,
            value: (row) => row.value.b,
            cell: ({ value }) => valueOf(what, value.b),
          },
          {
            key: 'size',
            title: 'change',
            value: (row) => Math.abs(row.change.value),
            cell: (row) => amountOf(what, shownOf(row).estimate),
          },
        ]}
        rows={pages}
        rowKey={(row) => row.page}
        order="-size"
      />
      {others.length > 0 && (
        <>
          <h3>{moved.length ? 'Moved to or from' : 'Consequences'}</h3>
          <ul class="items">
            {others.map((one) => (
              <li key={`${one.page} ${textOf(one.what)}`} class="item">
                <Text>{textOf(one.what)}</Text> {amountOf(one.what, one.change)} on{' '}
                <PlaceLink kind="page" name={one.page} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}

/** Possible new states of a change, by its state. */
const doable: Record<ChangeState, [ChangeState, string][]> = {
  open: [
    ['acknowledged', 'Acknowledge'],
    ['expected', 'Mark as expected'],
    ['resolved', 'Resolve'],
  ],
  acknowledged: [
    ['expected', 'Mark as expected'],
    ['resolved', 'Resolve'],
    ['open', 'Reopen'],
  ],
  expected: [
    ['resolved', 'Resolve'],
    ['open', 'Reopen'],
  ],
  resolved: [['open', 'Reopen']],
};

function Doing({ of, done }: { of: ChangeReport; done: () => void }) {
  const [note, setNote] = useState('');
  const [until, setUntil] = useState('');
  const [problem, setProblem] = useState('');
  if (!mayAsk('changes')) {
    return (
      <Panel title="Triage">
        <p class="quiet">Changing the state requires the scope “changes”.</p>
      </Panel>
    );
  }
  const send = async (state: ChangeState) => {
    setProblem('');
    const body = { state, note, until: state == 'expected' ? new Date(until).toISOString() : undefined };
    try {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(`api/v1/changes/${of.id}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (response.ok) return done();
      const { error } = (await response.json()) as { error?: string };
      setProblem(error || `The daemon responded with ${response.status}.`);
    } catch {
      setProblem('The daemon does not respond.');
    }
  };
  return (
    <Panel title="Triage">
      <form class="row" onSubmit={(event) => event.preventDefault()}>
        <label>
          note <input value={note} maxLength={500} onInput={(event) => setNote(event.currentTarget.value)} />
        </label>
        {doable[of.state].some(([state]) => state == 'expected') && (
          <label>
            expected until <input type="date" value={until} onInput={(event) => setUntil(event.currentTarget.value)} />
          </label>
        )}
        {doable[of.state].map(([state, name]) => (
          <button key={state} type="button" disabled={state == 'expected' && !until} onClick={() => void send(state)}>
            {name}
          </button>
        ))}
      </form>
      {problem && (
        <p role="alert" class="bad">
          {problem}
        </p>
      )}
    </Panel>
  );
}
