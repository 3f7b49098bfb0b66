// Where the calls of a page view are drawn: with what is looked at in the URL.

import { useMemo } from 'preact/hooks';
import type { ViewAnswer } from '../api/types.ts';
import { useView } from '../pages/context.ts';
import { change, go } from '../state/location.ts';
import { linkTo } from '../state/url.ts';
import { lanesOf } from '../timeline/lanes.ts';
import type { Timeline } from '../timeline/timeline.ts';
import { TimeOrder } from '../timeline/TimeOrder.tsx';
import type { Colouring } from '../tree/colour.ts';

const colourings: readonly Colouring[] = ['owner', 'file', 'self'];

/** The calls of a page view in the order of time. */
export function Calls({ view, timeline }: { view: ViewAnswer; timeline: Timeline }) {
  const { place } = useView();
  const lanes = useMemo(() => lanesOf(view), [view]);
  const get = (key: string) => place.params.get(key) ?? '';
  const shown = get('view');
  return (
    <TimeOrder
      timeline={timeline}
      lanes={lanes}
      tasks={view.long_tasks}
      unsampled={view.unsampled}
      label={`a page view of ${view.page}`}
      colouring={colourings.find((one) => one == get('colour')) ?? 'owner'}
      onColouring={(colour) => change({ colour: colour == 'owner' ? '' : colour })}
      view={shown == 'rows' || shown == 'both' ? shown : 'graph'}
      onView={(next) => change({ view: next == 'graph' ? '' : next })}
      search={get('search')}
      onSearch={(search) => change({ search }, true)}
      range={get('range')}
      onRange={(range, replace) => change({ range }, replace)}
      onFunction={({ name, resource, line, column }) =>
        go(linkTo(place, 'function', { page: get('page'), feature: get('feature'), name: name || ' ', resource, line, column }))
      }
    />
  );
}
