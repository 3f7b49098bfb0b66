// The contents of a file in chronological order, by thread.

import { useMemo } from 'preact/hooks';
import { view, views } from '../../api/queries.ts';
import type { ViewEntry } from '../../api/types.ts';
import { change } from '../../state/location.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';
import { timelineOf } from '../../timeline/timeline.ts';
import { Remarks } from '../../widgets/Notice.tsx';
import { cut, duration, visible } from '../../widgets/numbers.ts';
import { Panel } from '../../widgets/Panel.tsx';
import { Calls } from './Calls.tsx';

/** A thread of a file, and a choice of the others. */
export function FileTime() {
  const { place, selection } = useView();
  const listed = views(selection, '');
  const shown = useQuery(listed, Infinity);
  const threads = shown.response?.list ?? [];
  const chosen = threads.find(({ id }) => id == place.params.get('thread')) ?? threads[0];
  const query = chosen && view(selection, chosen.id);
  const calls = useQuery(query, Infinity);
  const response = calls.response;
  const timeline = useMemo(() => response && timelineOf(response), [response]);
  if (!chosen) {
    return (
      <Panel title="Timeline" query={listed} shown={shown}>
        {(response) => (
          <>
            <p class="empty">This file does not record when calls ran.</p>
            <Remarks stats={response.stats} />
          </>
        )}
      </Panel>
    );
  }
  return (
    <Panel
      title="Timeline"
      beside={threads.length > 1 && <Threads {...{ threads, chosen }} />}
      query={query}
      shown={calls}
    >
      {(response) => (
        <>
          {timeline && <Calls view={response} timeline={timeline} />}
          <p class="hint">Times are relative to the first call in the file.</p>
          <Remarks stats={response.stats} />
        </>
      )}
    </Panel>
  );
}

function Threads({ threads, chosen }: { threads: readonly ViewEntry[]; chosen: ViewEntry }) {
  return (
    <label>
      Thread{' '}
      <select value={chosen.id} onChange={(event) => change({ thread: event.currentTarget.value, range: '' })}>
        {threads.slice(0, 500).map(({ id, page, time_ms }) => (
          <option key={id} value={id}>
            {visible(cut(page, 60))}, {duration(time_ms)}
          </option>
        ))}
      </select>
    </label>
  );
}
