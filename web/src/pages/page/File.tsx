// A file that aggregate opened: it has no times, pages and labels, but all that is in a profile.

import { top } from '../../api/queries.ts';
import { otherSideOf } from '../../api/selection.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import { Breakdown } from '../code/Breakdown.tsx';
import { Text } from '../parts/names.tsx';
import { later } from '../views/later.tsx';
import '../parts/detail.css';

const FileTime = later((drawn) => drawn.FileTime);

/** What is in a file, or in two that are compared. */
export function File() {
  const { place, selection, unit } = useView();
  const { response } = useQuery(top(selection, { limit: 1 }));
  const other = otherSideOf(place.params);
  const views = Math.max(1, response?.views ?? 0);
  const scale = { unit, hoursPerMs: views / 3.6e6, perDay: false, wholeMs: (response?.self_us ?? 0) / 1000 / views };
  return (
    <div class="page detail">
      <header class="title">
        <p class="quiet">file</p>
        <h1>
          <Text length={120}>{place.params.get('title') || 'Profile'}</Text>
        </h1>
      </header>
      <Breakdown scale={scale} other={other} more={other ? [] : [{ key: 'time', title: 'In the order of time', body: () => <FileTime /> }]} />
    </div>
  );
}
