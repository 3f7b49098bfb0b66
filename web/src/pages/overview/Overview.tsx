// The first page: total times and what needs attention.

import { useEffect } from 'preact/hooks';
import { catalog, coverage, list, series } from '../../api/queries.ts';
import type { Point } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { lineOf, releasesOf } from '../../widgets/lines.ts';
import { Legend } from '../../widgets/Metric.tsx';
import { Remarks } from '../../widgets/Notice.tsx';
import { Panel } from '../../widgets/Panel.tsx';
import { Trend } from '../../widgets/Trend.tsx';
import { ofPage } from '../../widgets/unit.ts';
import { useChart } from '../parts/chart.ts';
import { Kpis } from '../parts/Kpis.tsx';
import { NothingNow } from '../parts/NothingNow.tsx';
import { Attention } from './Attention.tsx';
import { FirstTrace } from '../views/later.tsx';
import { Places } from './Places.tsx';

export function Overview() {
  const { place, selection } = useView();
  const { chart, from, to } = useChart();
  const whole = useQuery(series(selection, { step: 'all' }));
  const time = useQuery(series(chart));
  const pages = useQuery(coverage(selection));
  const stored = useQuery(catalog());
  const trends = useQuery(series(chart, { group_by: 'page' }));
  const point = whole.response?.groups[0]?.points[0];
  const { again } = whole;
  useEffect(() => {
    // the first trace may be there by now
    if (stored.response?.entries.length && whole.response && !point?.views) again();
  }, [stored.response]);
  if (whole.response && !point?.views && stored.response) {
    return stored.response.entries.length ? <NothingNow /> : <FirstTrace />;
  }
  const sum = pages.response?.all;
  return (
    <div class="page overview">
      <h1 class="hidden">Overview</h1>
      <Panel title="All pages" class="whole" query={series(selection, { step: 'all' })} shown={whole}>
        {(response) => (
          <>
            {point && <Kpis point={point} />}
            <Remarks noSpread={response.no_spread} stats={response.stats} />
          </>
        )}
      </Panel>
      <Panel title="JavaScript per page view over time" query={series(chart)} shown={time} class="over-time">
        {(response) => (
          <OverTime
            points={response.groups[0]?.points ?? []}
            markers={releasesOf(stored.response)}
            from={from}
            to={to}
          />
        )}
      </Panel>
      <Attention />
      <Panel
        title="Heaviest pages"
        class="places"
        beside={<a href={linkTo(place, 'pages')}>All pages</a>}
        query={list('pages', selection)}
        shown={pages}
      >
        {(response) => (
          <Places
            kind="page"
            list={response}
            totalUs={sum ? ofPage(sum) : 0}
            totalViews={sum?.views ?? 0}
            series={trends.response}
            order="-hours"
            short
          />
        )}
      </Panel>
      <Features totalViews={point?.views ?? 0} totalUs={point ? ofPage(point) : 0} />
      <Legend
        terms={[
          ['p50', 'p50'],
          ['p75', 'p75'],
          ['Mean', 'perView'],
          ['±', 'interval'],
          ['Long tasks', 'longTasks'],
          ['Time per day', 'userHours'],
        ]}
      />
    </div>
  );
}

interface OverTimeProps {
  points: readonly Point[];
  markers: ReturnType<typeof releasesOf>;
  from: number;
  to: number;
}

function OverTime({ points, markers, from, to }: OverTimeProps) {
  const spread = points.some((point) => point.spread);
  const lines = spread ? (['p75', 'p50', 'long tasks p75'] as const) : (['mean'] as const);
  const drawn = lines.map((name) => ({ name, samples: lineOf(points, name) }));
  return <Trend lines={drawn} markers={markers} from={from} to={to} height={240} />;
}

function Features({ totalViews, totalUs }: { totalViews: number; totalUs: number }) {
  const { place, selection } = useView();
  const { chart } = useChart();
  const { response: stored } = useQuery(catalog());
  const some = stored?.entries.some(({ kind }) => kind == 'feature');
  const features = useQuery(some ? list('features', selection, 10) : undefined);
  const trends = useQuery(some ? series(chart, { group_by: 'feature' }) : undefined);
  if (!stored) return null;
  if (!some) {
    return (
      <Panel title="Heaviest features" class="places">
        <p class="empty">
          No features yet. <code>{"fieldtrie.feature('search', () => …)"}</code> measures one; rules in the{' '}
          <code>--budgets</code> file do the same without a change to the page.
        </p>
      </Panel>
    );
  }
  return (
    <Panel
      title="Heaviest features"
      class="places"
      beside={<a href={linkTo(place, 'features')}>All features</a>}
      query={list('features', selection)}
      shown={features}
    >
      {(response) => (
        <Places
          kind="feature"
          list={response}
          totalUs={totalUs}
          totalViews={totalViews}
          series={trends.response}
          order="-mean"
          short
        />
      )}
    </Panel>
  );
}
