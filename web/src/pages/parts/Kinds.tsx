// Activity of the main thread while profiling, with and without a JavaScript stack.

import type { Point } from '../../api/types.ts';
import type { Term } from '../../widgets/meanings.ts';
import { Explained } from '../../widgets/Metric.tsx';
import { duration, percent } from '../../widgets/numbers.ts';
import { ofPage } from '../../widgets/unit.ts';

interface Kind {
  name: string;
  us: number;
  term: Term;
}

/** Returns the kinds of time of a point, which add up to the total profiled time. */
export function kindsOf(point: Point): Kind[] {
  return [
    { name: 'JavaScript', us: ofPage(point), term: 'perView' },
    { name: 'idle', us: point.idle_us, term: 'stackless' },
    { name: 'no stack, not idle', us: Math.max(0, point.stackless_us - point.idle_us), term: 'stackless' },
    { name: 'not sampled', us: point.unsampled_us, term: 'unsampled' },
    { name: 'profiling script', us: point.own_us, term: 'own' },
  ];
}

/** A bar of the profiled time by kind. */
export function Kinds({ point }: { point: Point }) {
  const kinds = kindsOf(point);
  const all = kinds.reduce((sum, { us }) => sum + us, 0);
  if (!all) return null;
  let x = 0;
  return (
    <figure class="kinds">
      <svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        {kinds.map(({ name, us }, i) => {
          const begin = x;
          x += (us / all) * 100;
          return <rect key={name} class={`kind${i}`} x={begin} width={Math.max(0, x - begin - 0.15)} height="6" />;
        })}
      </svg>
      <dl>
        {kinds.map(({ name, us, term }, i) => (
          <div key={name}>
            <dt class={`key kind${i}`}>
              <Explained term={term}>{name}</Explained>
            </dt>
            <dd>
              {duration(us / 1000 / Math.max(1, point.views))} <small>{percent(us / all)}</small>
            </dd>
          </div>
        ))}
      </dl>
    </figure>
  );
}
