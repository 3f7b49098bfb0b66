// The numbers of what is selected that come first.

import type { Estimate, Point } from '../../api/types.ts';
import { useView } from '../../state/view.ts';
import { minViews } from '../../widgets/Interval.tsx';
import { Metric } from '../../widgets/Metric.tsx';
import { count, duration, hours, percent, plural, shortCount } from '../../widgets/numbers.ts';
import { amount, inUnit, perDay, type Scale } from '../../widgets/unit.ts';

/** Returns what means are turned into other units by, from the point that stands for all of the time. */
export function useScale(point: Point | undefined): Scale {
  const { unit, days } = useView();
  const population = point?.population?.value ?? point?.views ?? 0;
  return { unit, days, population, wholeMs: point?.mean_ms ?? 0 };
}

/** Writes the interval of an estimate; undefined if it has none. */
function between({ low, high }: Estimate): string | undefined {
  return low == undefined || high == undefined ? undefined : `${duration(low)} – ${duration(high)}`;
}

function Quantile({ name, of }: { name: 'p75' | 'p95'; of: Estimate }) {
  return <Metric name={name} term={name} value={duration(of.value)} beside={between(of)} />;
}

/** The share of the time that is told if it was not sampled. */
const worthSaying = 0.02;

/** The numbers of a point that stands for all of the time. */
export function Kpis({ point }: { point: Point }) {
  const scale = useScale(point);
  const { spread, long_tasks: tasks } = point;
  const people = inUnit(point.mean_ms, { ...scale, unit: 'hours' });
  const population = point.population?.value ?? point.views;
  const mean = spread?.mean;
  const unsampled = point.unsampled_us / Math.max(point.self_us + point.stackless_us + point.unsampled_us, 1);
  return (
    <>
      <dl class={point.views < minViews ? 'metrics few' : 'metrics'}>
        <Metric name="Page views" term="views" value={shortCount(point.views)} beside={`of ${count(population)}`} />
        {spread && <Quantile name="p75" of={spread.p75} />}
        <Metric
          name={scale.unit == 'share' ? 'Share' : 'Mean'}
          term="perView"
          value={scale.unit == 'ms' ? duration(point.mean_ms) : amount(point.mean_ms, scale)}
          beside={{ ms: mean && between(mean), hours: perDay(scale.days), share: 'of all JavaScript' }[scale.unit]}
        />
        {spread && <Quantile name="p95" of={spread.p95} />}
        {tasks && (
          <Metric
            name="Long tasks, p75"
            term="longTasks"
            value={duration(tasks.p75.value)}
            beside={`mean ${duration(tasks.mean.value)}`}
          />
        )}
        <Metric name="People’s time" term="userHours" value={hours(people)} beside={perDay(scale.days)} />
      </dl>
      {point.views > 0 && point.views < minViews && (
        <p class="hint">
          Only {plural(point.views, 'page view')}: too few for a conclusion. The intervals show how uncertain the numbers are.
        </p>
      )}
      {unsampled >= worthSaying && (
        <p class="hint">
          {percent(unsampled)} of the time was not sampled, and none of these numbers includes what ran then. If JavaScript had
          the same share of that time as of the rest, the mean would be {duration(point.scaled_mean_ms)}.
        </p>
      )}
      {spread?.few && (
        <p class="hint">
          {plural(spread.few.views, 'page view')} of {count(point.views)} account for {percent(spread.few.share)} of all the
          time and dominate the mean. Use the percentiles.
        </p>
      )}
    </>
  );
}
