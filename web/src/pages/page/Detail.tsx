// A page or a feature: its times, their history and distribution, and its functions.

import { browsers, catalog, series } from '../../api/queries.ts';
import { useMayViews, useQuery, useSettled } from '../../state/responses.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { Histogram } from '../../widgets/Histogram.tsx';
import { releasesOf, versionsOf } from '../../widgets/lines.ts';
import { Remarks } from '../../widgets/Notice.tsx';
import { Panel } from '../../widgets/Panel.tsx';
import { TimeSeries } from '../../widgets/TimeSeries.tsx';
import { Breakdown } from '../code/Breakdown.tsx';
import { useChart } from '../parts/chart.ts';
import { Kpis, useScale } from '../parts/Kpis.tsx';
import { Text } from '../parts/names.tsx';
import { NothingNow } from '../parts/NothingNow.tsx';
import { Elements } from './Elements.tsx';
import { Export } from './Export.tsx';
import { Vitals } from './Vitals.tsx';
import '../parts/detail.css';

export function PageDetail() {
  return <Detail kind="page" />;
}

export function FeatureDetail() {
  return <Detail kind="feature" />;
}

function Detail({ kind }: { kind: 'page' | 'feature' }) {
  const { selection } = useView();
  const { chart, from, to } = useChart();
  const all = series(selection, { step: 'all', histogram: true });
  const whole = useQuery(all);
  const time = useQuery(series(chart));
  const { response: stored } = useQuery(catalog());
  const { response: versions } = useQuery(useSettled() ? browsers(selection) : undefined);
  const point = whole.response?.groups[0]?.points[0];
  const scale = useScale(point);
  if (whole.response && !point?.views) return <NothingNow />;
  const releases = releasesOf(stored, selection.page);
  return (
    <div class="page detail">
      <Title kind={kind} releases={releases.length} />
      <div class="summary">
        <Panel title="Time per page view" query={all} shown={whole} class="whole">
          {(response) => (
            <>
              {point && <Kpis point={point} />}
              <Remarks noSpread={response.no_spread} stats={response.stats} />
            </>
          )}
        </Panel>
        {kind == 'page' && <Vitals />}
      </div>
      <div class="beside">
        <Panel title="Over time" query={series(chart)} shown={time}>
          {(response) => (
            <TimeSeries
              points={response.groups[0]?.points ?? []}
              stepSeconds={response.step_seconds}
              markers={[...releases, ...versionsOf(versions)]}
              from={from}
              to={to}
            />
          )}
        </Panel>
        <Panel title="Distribution" query={all} shown={whole}>
          {() =>
            point?.histogram ? (
              <Histogram bars={point.histogram} spread={point.spread} of="JavaScript per page view" />
            ) : (
              <p class="empty">No distribution is stored for this query.</p>
            )
          }
        </Panel>
      </div>
      <Breakdown scale={scale} point={point} />
      {kind == 'page' && <Elements />}
    </div>
  );
}

function Title({ kind, releases }: { kind: 'page' | 'feature'; releases: number }) {
  const { place, selection } = useView();
  const name = selection[kind];
  const mayViews = useMayViews();
  return (
    <header class="title">
      <p class="quiet">{kind}</p>
      <h1>
        <Text length={120}>{name || `All ${kind}s`}</Text>
      </h1>
      <div class="actions row">
        <a class="button" href={linkTo(place, 'audience', { [kind]: name })}>
          Audience
        </a>
        {mayViews && (
          <a class="button" href={linkTo(place, 'views', { [kind]: name })}>
            Page views
          </a>
        )}
        {releases > 1 && (
          <a class="button" href={linkTo(place, 'compare', { [kind]: name })}>
            Compare releases
          </a>
        )}
        <Export />
      </div>
    </header>
  );
}
