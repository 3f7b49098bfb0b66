// A file that aggregate opened. It has no times, pages and labels, but everything that a profile
// contains.

import { top, type Query } from '../../api/queries.ts';
import { conditionOf, otherSideOf } from '../../api/selection.ts';
import { ThreadChoice, ThreadTimes, sum } from '../../profile-file/Threads.tsx';
import type { Thread } from '../../profile-file/threads.ts';
import { change } from '../../state/location.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import { ofPage } from '../../widgets/unit.ts';
import { Breakdown } from '../code/Breakdown.tsx';
import { Text } from '../parts/names.tsx';
import { later } from '../views/later.tsx';
import '../parts/detail.css';

const FileTime = later((drawn) => drawn.FileTime);

const threadsOfFiles: Query<Thread[]> = { path: 'threads', params: new URLSearchParams() };

/** The contents of a file, or a comparison of two. */
export function File() {
  const { place, selection, unit } = useView();
  const { response } = useQuery(top(selection, { limit: 1 }));
  const other = otherSideOf(place.params);
  const views = Math.max(1, response?.views ?? 0);
  const scale = {
    unit,
    hoursPerMs: views / 3.6e6,
    perDay: false,
    wholeMs: (response ? ofPage(response) : 0) / 1000 / views,
  };
  return (
    <div class="page detail">
      <header class="title">
        <p class="quiet">file</p>
        <h1>
          <Text length={120}>{place.params.get('title') || 'Profile'}</Text>
        </h1>
      </header>
      {!other && <Threads />}
      <Breakdown
        scale={scale}
        other={other}
        more={other ? [] : [{ key: 'time', title: 'Timeline', body: () => <FileTime /> }]}
      />
    </div>
  );
}

/** The shown thread, a choice of other threads, and the distribution of its time. */
function Threads() {
  const { selection } = useView();
  const { response: threads = [] } = useQuery(threadsOfFiles, Infinity);
  const first = threads.filter(({ shown }) => shown);
  const wanted = selection.label
    .map(conditionOf)
    .find((label) => label?.key == 'thread' && label.operator == '=')?.value;
  const [chosen] = first.length == 1 && wanted == undefined ? first : threads.filter(({ key }) => key == wanted);
  if (!first.length) return null; // a file of page views
  const choose = (key: string) => change({ label: labelOf(key == sum ? first : [{ key }]), root: '', thread: '' });
  return (
    <dl class="facts">
      <ThreadChoice threads={threads} summed={first} chosen={chosen?.key ?? sum} onChoose={choose} />
      <ThreadTimes threads={chosen ? [chosen] : first} />
    </dl>
  );
}

/** Returns the condition that selects threads. */
function labelOf(threads: readonly Pick<Thread, 'key'>[]): string {
  const keys = threads.map(({ key }) => key).join('|');
  return threads.length == 1 ? `thread=${keys}` : `thread=~${keys}`;
}
