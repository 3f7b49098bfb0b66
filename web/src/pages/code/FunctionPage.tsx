// A function: its times, the release that introduced it, its callers and its callees.

import { series, top } from '../../api/queries.ts';
import type { Place, TopFunction } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import { minViews } from '../../widgets/Interval.tsx';
import { Metric } from '../../widgets/Metric.tsx';
import { Remarks } from '../../widgets/Notice.tsx';
import { count, cut, duration, hours, percent, visible } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { inUnit, ofPage, ofPeriod, type Scale } from '../../widgets/unit.ts';
import { useScale } from '../parts/Kpis.tsx';
import { Text } from '../parts/names.tsx';
import { Across, found, mostFunctions } from './Across.tsx';
import { Around } from './Sandwich.tsx';
import '../parts/detail.css';

/** Returns the function in a URL. */
export function functionOf(params: URLSearchParams): Place {
  const whole = (key: string) => Number(params.get(key)) || undefined;
  return {
    name: (params.get('name') ?? '').trim(),
    resource: params.get('resource') ?? undefined,
    line: whole('line'),
    column: whole('column'),
  };
}

export function FunctionPage() {
  const { place, selection, ofFile } = useView();
  const what = functionOf(place.params);
  const query = top(selection, { limit: mostFunctions });
  const shown = useQuery(query);
  const row = found(shown.response, what);
  const views = shown.response?.views ?? 0;
  const whole = useQuery(ofFile ? undefined : series(selection, { step: 'all' }));
  const point = whole.response?.groups[0]?.points[0];
  const wholeMs = shown.response ? ofPage(shown.response) / 1000 / Math.max(1, views) : 0;
  const own = { ...useScale(point), wholeMs };
  return (
    <div class="page detail">
      <header class="title">
        <p class="quiet">function</p>
        <h1>
          <Text length={160}>{what.name || '(anonymous)'}</Text>
        </h1>
        <Source of={what} href={row?.source_url} />
      </header>
      <Panel title="Time per page view" query={query} shown={shown}>
        {(response) => (
          <>
            {row ? (
              <FunctionKpis of={row} views={views} scale={own} />
            ) : (
              <p class="empty">
                {response.functions.length < mostFunctions
                  ? 'The function was not sampled in this selection.'
                  : `The function is not among the ${count(mostFunctions)} heaviest of this selection.`}
              </p>
            )}
            <Remarks noSpread={response.no_spread} stats={response.stats} />
          </>
        )}
      </Panel>
      {!ofFile && <Across of={what} />}
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
  const p75 = of.self?.p75;
  const between = (low?: number, high?: number) =>
    low == undefined || high == undefined ? 'no interval' : `${duration(low)} – ${duration(high)}`;
  return (
    <dl class="metrics">
      <Metric
        name="Self"
        term="self"
        value={duration(ms(of.self_us))}
        beside={between(of.self?.mean.low, of.self?.mean.high)}
      />
      <Metric
        name="Total"
        term="total"
        value={duration(ms(of.total_us))}
        beside={between(of.total?.mean.low, of.total?.mean.high)}
      />
      <Metric
        name="Reach"
        term="reach"
        value={percent(Math.min(1, of.reach / Math.max(1, views)))}
        beside={`${count(of.reach)} of ${count(views)} views`}
      />
      {p75 && (
        <Metric name="p75 if sampled" term="p75" value={duration(p75.value)} beside={between(p75.low, p75.high)} />
      )}
      <Metric
        name="Share"
        term="share"
        value={percent(scale.wholeMs ? ms(of.self_us) / scale.wholeMs : 0)}
        beside="of all JavaScript, self"
      />
      <Metric
        name="Total user time"
        term="userHours"
        value={hours(inUnit(ms(of.self_us), { ...scale, unit: 'hours' }))}
        beside={`${ofPeriod(scale)}, self`}
      />
    </dl>
  );
}
