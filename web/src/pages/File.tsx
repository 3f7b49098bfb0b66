// A file that aggregate opened: it has no times, pages and labels, but all that is in a profile.

import { top } from '../api/questions.ts';
import { useAnswer } from '../state/answer.ts';
import { otherSideOf } from '../state/selection.ts';
import { Breakdown } from './Breakdown.tsx';
import { useView } from './context.ts';
import { later } from './later.tsx';
import { Text } from './names.tsx';
import './detail.css';

const FileTime = later((drawn) => drawn.FileTime);

/** What is in a file, or in two that are compared. */
export function File() {
  const { place, selection, unit } = useView();
  const { answer } = useAnswer(top(selection, { limit: 1 }));
  const other = otherSideOf(place.params);
  const views = Math.max(1, answer?.views ?? 0);
  const scale = { unit, days: 1, population: views, wholeMs: (answer?.self_us ?? 0) / 1000 / views };
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
