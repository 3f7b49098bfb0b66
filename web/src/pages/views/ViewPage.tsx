// One page view: its time and labels, its rank among the others, and its calls in chronological
// order.

import { useMemo } from 'preact/hooks';
import { erasing } from '../../api/command.ts';
import { view, views } from '../../api/queries.ts';
import type { ViewResponse, ViewEntry, Views } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkHere, linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { timelineOf } from '../../timeline/timeline.ts';
import { Copy } from '../../widgets/Command.tsx';
import { Metric } from '../../widgets/Metric.tsx';
import { NamesRemark, Remarks } from '../../widgets/Notice.tsx';
import { count, duration, moment, percent, plural } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Text } from '../parts/names.tsx';
import { Calls } from './Calls.tsx';
import { SeenFunctions } from './SeenFunctions.tsx';
import { labelsOf, quantileName, quantilesOf, viewLink } from './Views.tsx';
import { ViewsProblem } from './ViewsProblem.tsx';
import '../parts/detail.css';

/** The refresh interval, in ms, of a page view that has ended: late traces may still arrive. */
const seldom = 600_000;

export function ViewPage() {
  const { place, selection } = useView();
  const id = place.params.get('id') ?? '';
  const query = view(selection, id);
  const shown = useQuery(query, seldom);
  const { response: others } = useQuery(views(selection, quantilesOf(place)), seldom);
  const response = shown.response;
  const timeline = useMemo(() => response && timelineOf(response), [response]);
  return (
    <div class="page detail">
      <Title view={response} others={others} id={id} />
      <Panel title="This page view" query={query} shown={shown} class="whole">
        {(response) => (
          <>
            <Numbers view={response} others={others} />
            <Labels view={response} />
            <Remarks stats={response.stats} />
          </>
        )}
      </Panel>
      {shown.problem && <ViewsProblem problem={shown.problem} />}
      {response && timeline && (
        <>
          <Panel title="Timeline" query={query} shown={{ ...shown, pendingSince: undefined }}>
            {timeline.tree.frame.length > 1 ? (
              <Calls view={response} timeline={timeline} />
            ) : (
              <p class="empty">No call was sampled in this page view.</p>
            )}
            <Meaning view={response} />
          </Panel>
          <Panel
            title="Heaviest functions of this page view"
            query={query}
            shown={{ ...shown, pendingSince: undefined }}
          >
            <SeenFunctions tree={timeline.tree} />
            <NamesRemark names={response.stats.names} />
          </Panel>
        </>
      )}
    </div>
  );
}

interface TitleProps {
  view?: ViewResponse;
  others?: Views;
  id: string;
}

/** The title of a page view, with links to its neighbours in the list. */
function Title({ view, others, id }: TitleProps) {
  const { place, selection } = useView();
  const list = [...(others?.list ?? [])].sort((a, b) => a.quantile - b.quantile);
  const at = list.findIndex((entry) => entry.id == id);
  const name = at < 0 ? 'Page view' : `Page view at ${rankOf(list[at]!.quantile)}`;
  const step = (to: number, text: string, arrow: string) => {
    const entry = at < 0 ? undefined : list[to];
    if (!entry || entry.id == id) return null;
    return (
      <a
        class="button"
        href={viewLink(place, entry)}
        rel={to < at ? 'prev' : 'next'}
        aria-label={`${text}: ${quantileName(entry.quantile)}`}
      >
        {to < at && <span aria-hidden="true">{arrow} </span>}
        {quantileName(entry.quantile)}
        {to > at && <span aria-hidden="true"> {arrow}</span>}
      </a>
    );
  };
  return (
    <header class="title">
      <p class="quiet">
        <a
          href={linkTo(place, 'views', {
            page: selection.page,
            feature: selection.feature,
            quantiles: place.params.get('quantiles') ?? '',
          })}
        >
          single page views
        </a>
      </p>
      <h1>
        {name}
        {(selection.page || view?.page) && (
          <>
            {' of '}
            <Text length={80}>{selection.page || view!.page}</Text>
          </>
        )}
      </h1>
      <div class="actions row">
        {step(at - 1, 'Previous', '←')}
        {step(at + 1, 'Next', '→')}
      </div>
    </header>
  );
}

function Numbers({ view, others }: { view: ViewResponse; others?: Views }) {
  const entry = others?.list.find(({ id }) => id == view.id);
  const unsampled = view.unsampled.reduce((sum, { start_us, end_us }) => sum + end_us - start_us, 0);
  const blocking = view.long_tasks.reduce((sum, { start_us, end_us }) => sum + end_us - start_us - 50_000, 0);
  return (
    <dl class="metrics">
      {entry && others && (
        <Metric
          name="JavaScript, selected"
          term="viewTime"
          value={duration(entry.time_ms)}
          beside={standing(entry, others)}
        />
      )}
      <Metric
        name="JavaScript, total"
        term="wholeTime"
        value={duration(view.time_ms)}
        beside={`of ${duration(view.end_us / 1000)}`}
      />
      <Metric
        name="Long tasks"
        term="longTask"
        value={count(view.long_task_count)}
        beside={duration(view.long_task_ms)}
      />
      <Metric name="Blocking time" term="blocking" value={duration(blocking / 1000)} beside="in long tasks" />
      {view.own_ms > 0 && (
        <Metric name="Profiling script" term="own" value={duration(view.own_ms)} beside="not in other numbers" />
      )}
      <Metric
        name="Not sampled"
        term="unsampled"
        value={duration(unsampled / 1000)}
        beside={`sampled every ${duration(view.interval_us / 1000)}`}
      />
    </dl>
  );
}

/** The rank of a page view among the others. */
function standing(entry: ViewEntry, { views }: Views): string {
  if (entry.quantile <= 0) return `the minimum of ${count(views)}`;
  if (entry.quantile >= 1) return `the maximum of ${count(views)}`;
  return `more than ${percent(entry.quantile)} of ${plural(views, 'page view')}`;
}

function Labels({ view }: { view: ViewResponse }) {
  const { place } = useView();
  const page = place.params.get('page') ?? '';
  const erase = erasing(view.id, new URL('.', location.href).href);
  const labels = [...Object.entries({ release: view.release, environment: view.environment }), ...labelsOf(view)];
  return (
    <div class="row view-labels">
      <span>
        {moment(view.received)}, {plural(view.traces, 'trace')}
      </span>
      {labels.map(
        ([key, value]) =>
          value && (
            <span class="chip" key={key}>
              <Text length={60}>{`${key}=${value}`}</Text>
            </span>
          ),
      )}
      <p class="view-id">
        id <code>{view.id}</code> <Copy text={view.id} />
      </p>
      <details>
        <summary>Erase this page view</summary>
        <div class="command">
          <pre tabIndex={0}>{erase}</pre>
          <Copy text={erase} />
        </div>
      </details>
      {page && (
        <p class="quiet">
          Traces of other pages are left out: <a href={linkHere(place, { page: '', range: '' })}>include them</a>
        </p>
      )}
    </div>
  );
}

/** An explanation of the picture. */
function Meaning({ view }: { view: ViewResponse }) {
  return (
    <details class="legend">
      <summary>How to read the timeline</summary>
      <dl>
        <div>
          <dt>From left to right</dt>
          <dd>
            Time since the navigation started. A call is below its caller, and as wide as the time it was on the stack.
          </dd>
        </div>
        <div>
          <dt>Starts and ends</dt>
          <dd>
            The stack is sampled every {duration(view.interval_us / 1000)}, so both are off by up to that, and most
            shorter calls are missing.
          </dd>
        </div>
        <div>
          <dt>Empty</dt>
          <dd>
            No JavaScript: idle, or browser work that is not reported, such as layout or scripts of other origins.
          </dd>
        </div>
        <div>
          <dt>Hatched</dt>
          <dd>Not sampled: what ran is unknown. Before the first call, the profiler may not have started.</dd>
        </div>
        <div>
          <dt>Long tasks</dt>
          <dd>50 ms or more of JavaScript without a break; the part beyond 50 ms is hatched.</dd>
        </div>
      </dl>
    </details>
  );
}

/** Names the rank of a page view among all by JavaScript time. */
function rankOf(quantile: number): string {
  if (quantile <= 0) return 'the minimum';
  return quantile >= 1 ? 'the maximum' : quantileName(quantile);
}
