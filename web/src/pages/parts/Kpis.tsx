// The main numbers of the selection.

import type { Estimate, Point } from '../../api/types.ts';
import { useView } from '../../state/view.ts';
import { minViews } from '../../widgets/Interval.tsx';
import { Metric } from '../../widgets/Metric.tsx';
import { count, duration, hours, percent, plural, shortCount } from '../../widgets/numbers.ts';
import { amount, ofPeriod, scaleOf, type Scale } from '../../widgets/unit.ts';

/** Returns the scale that converts means to other units, from the point for the whole range. */
export function useScale(point: Point | undefined): Scale {
  return scaleOf(useView().unit, point);
}

/** Formats the interval of an estimate; returns undefined if it has none. */
function between({ low, high }: Estimate): string | undefined {
  return low == undefined || high == undefined ? undefined : `${duration(low)} – ${duration(high)}`;
}

/**
 * Shares of unsampled time, and of time missing from the mean, from which on they are mentioned.
 */
const worthSaying = 0.02;

/** The numbers of a point for the whole range. */
export function Kpis({ point }: { point: Point }) {
  const scale = useScale(point);
  const { spread, long_tasks: tasks } = point;
  const population = point.population?.value ?? point.views;
  const mean = spread?.mean;
  const unsampled = point.unsampled_us / Math.max(point.self_us + point.stackless_us + point.unsampled_us, 1);
  return (
    <>
      <dl class="metrics">
        {spread && (
          <Metric
            hero
            name="JavaScript per page view, p75"
            term="p75"
            value={duration(spread.p75.value)}
            beside={between(spread.p75)}
          />
        )}
        <Metric
          hero={!spread}
          name={scale.unit == 'share' ? 'Share of all JavaScript' : spread ? 'Mean' : 'JavaScript per page view, mean'}
          term="perView"
          value={scale.unit == 'ms' ? duration(point.mean_ms) : amount(point.mean_ms, scale)}
          beside={scale.unit == 'hours' ? ofPeriod(scale) : mean && between(mean)}
        />
        {spread && <Metric name="p95" term="p95" value={duration(spread.p95.value)} beside={between(spread.p95)} />}
        {tasks && (
          <Metric
            name="In long tasks, p75"
            term="longTasks"
            value={duration(tasks.p75.value)}
            beside={`mean ${duration(tasks.mean.value)}`}
          />
        )}
        <Metric
          name="Total user time"
          term="userHours"
          value={hours(point.people?.hours ?? 0)}
          beside={ofPeriod(scale)}
        />
        <Metric
          name="Page views profiled"
          term="views"
          value={shortCount(point.views)}
          beside={`of about ${shortCount(population)}`}
        />
      </dl>
      {point.views > 0 && point.views < minViews && (
        <p class="hint">n = {count(point.views)}: with few page views, intervals are wide.</p>
      )}
      {point.own_us > 0 && (
        <p class="hint">
          Profiling itself took {duration(point.own_us / 1000 / Math.max(1, point.views))} per page view (not included
          above).
        </p>
      )}
      {(unsampled >= worthSaying || Math.abs(point.scaled_mean_ms - point.mean_ms) > worthSaying * point.mean_ms) && (
        <p class="hint">
          The browser dropped {percent(unsampled)} of the samples. The true mean is probably{' '}
          {duration(point.scaled_mean_ms)}
          {point.scaled_high_ms != undefined &&
            ` (${duration(point.scaled_low_ms ?? 0)} – ${duration(point.scaled_high_ms)})`}
          .
        </p>
      )}
      {spread?.few && (
        <p class="hint">
          {plural(spread.few.views, 'page view')} of {count(point.views)} account for {percent(spread.few.share)} of the
          time and dominate the mean. Use the percentiles.
        </p>
      )}
    </>
  );
}
