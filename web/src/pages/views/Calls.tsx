// The place for a page view's calls. Its state is in the URL.

import { useMemo } from 'preact/hooks';
import type { ViewResponse } from '../../api/types.ts';
import { change, go } from '../../state/location.ts';
import { linkTo } from '../../state/url.ts';
import { useView } from '../../state/view.ts';
import { lanesOf } from '../../timeline/lanes.ts';
import type { Timeline } from '../../timeline/timeline.ts';
import { TimeOrder } from '../../timeline/TimeOrder.tsx';
import type { Colouring } from '../../tree/colour.ts';
import type { Frame } from '../../tree/tree.ts';

const colourings: readonly Colouring[] = ['owner', 'file', 'self'];

/** The calls of a page view in chronological order. */
export function Calls({ view, timeline }: { view: ViewResponse; timeline: Timeline }) {
  const { place } = useView();
  const ofFile = place.route == 'file'; // threads have no routes
  const lanes = useMemo(() => lanesOf(view).filter(({ key }) => !ofFile || key != 'route'), [view, ofFile]);
  const get = (key: string) => place.params.get(key) ?? '';
  const shown = get('view');
  const open = ({ name, resource, line, column }: Frame) =>
    go(
      linkTo(place, 'function', {
        page: get('page'),
        feature: get('feature'),
        name: name || ' ',
        resource,
        line,
        column,
      }),
    );
  return (
    <TimeOrder
      timeline={timeline}
      lanes={lanes}
      tasks={view.long_tasks}
      unsampled={view.unsampled}
      label={ofFile ? `thread ${view.page}` : `a page view of ${view.page}`}
      colouring={colourings.find((one) => one == get('colour')) ?? 'owner'}
      onColouring={(colour) => change({ colour: colour == 'owner' ? '' : colour })}
      view={shown == 'rows' || shown == 'both' ? shown : 'graph'}
      onView={(next) => change({ view: next == 'graph' ? '' : next })}
      search={get('search')}
      onSearch={(search) => change({ search }, true)}
      range={get('range')}
      onRange={(range, replace) => change({ range }, replace)}
      onFunction={ofFile ? undefined : open}
    />
  );
}
