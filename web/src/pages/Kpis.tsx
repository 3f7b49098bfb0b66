// The numbers of what is selected that come first.

import type { Point } from '../api/types.ts';
import { Metric } from '../widgets/Metric.tsx';
import { count, duration, hours, percent, plural, shortCount } from '../widgets/numbers.ts';
import { amount, inUnit, type Scale } from '../widgets/unit.ts';
import { minViews } from '../widgets/Interval.tsx';
import { useView } from './context.ts';

/** Returns what means are turned into other units by, from the point that stands for all of the time. */
export function useScale(point: Point | undefined): Scale {
  const { unit, days } = useView();
  const population = point?.population?.value ?? point?.views ?? 0;
  return { unit, days, population, wholeMs: point?.mean_ms ?? 0 };
}

/** The numbers of a point that stands for all of the time. */
export function Kpis({ point }: { point: Point }) {
  const scale = useScale(point);
  const { spread, long_tasks: tasks } = point;
  const perDay = inUnit(point.mean_ms, { ...scale, unit: 'hours' });
  const population = point.population?.value ?? point.views;
  const between = (low?: number, high?: number) =>
    low == undefined || high == undefined ? undefined : `${duration(low)} – ${duration(high)}`;
  const mean = spread?.mean;
  return (
    <>
      <dl class={point.views < minViews ? 'metrics few' : 'metrics'}>
        <Metric name="Page views" term="views" value={shortCount(point.views)} beside={`of ${count(population)}`} />
        {spread && <Metric name="p75" term="p75" value={duration(spread.p75.value)} beside={between(spread.p75.low, spread.p75.high)} />}
        <Metric
          name={scale.unit == 'share' ? 'Share' : 'Mean'}
          term="perView"
          value={scale.unit == 'ms' ? duration(point.mean_ms) : scale.unit == 'hours' ? amount(point.mean_ms, scale) : '100 %'}
          beside={scale.unit == 'ms' ? between(mean?.low, mean?.high) : scale.unit == 'hours' ? 'per day' : 'of all JavaScript'}
        />
        {spread && <Metric name="p95" term="p95" value={duration(spread.p95.value)} beside={between(spread.p95.low, spread.p95.high)} />}
        {tasks && <Metric name="Long tasks, p75" term="longTasks" value={duration(tasks.p75.value)} beside={`mean ${duration(tasks.mean.value)}`} />}
        <Metric name="People’s time" term="userHours" value={hours(perDay)} beside="per day" />
      </dl>
      {point.views > 0 && point.views < minViews && (
        <p class="hint">
          Only {plural(point.views, 'page view')}: too few to conclude anything. The intervals say how far off it may be.
        </p>
      )}
      {spread?.few && (
        <p class="hint">
          {plural(spread.few.views, 'page view')} of {count(point.views)} have {percent(spread.few.share)} of all the time: the
          mean is of those. Go by the percentiles.
        </p>
      )}
    </>
  );
}
