// What is in a file in the order of time, thread by thread.

import { useMemo } from 'preact/hooks';
import { view, views } from '../../api/questions.ts';
import type { ViewEntry } from '../../api/types.ts';
import { useAnswer } from '../../state/answer.ts';
import { change } from '../../state/location.ts';
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
  const shown = useAnswer(listed, Infinity);
  const threads = shown.answer?.list ?? [];
  const chosen = threads.find(({ id }) => id == place.params.get('thread')) ?? threads[0];
  const question = chosen && view(selection, chosen.id);
  const calls = useAnswer(question, Infinity);
  const answer = calls.answer;
  const timeline = useMemo(() => answer && timelineOf(answer), [answer]);
  if (!chosen) {
    return (
      <Panel title="In the order of time" question={listed} shown={shown}>
        {(answer) => (
          <>
            <p class="empty">This file does not say when calls ran.</p>
            <Remarks stats={answer.stats} />
          </>
        )}
      </Panel>
    );
  }
  return (
    <Panel title="In the order of time" beside={threads.length > 1 && <Threads {...{ threads, chosen }} />} question={question} shown={calls}>
      {(answer) => (
        <>
          {timeline && <Calls view={answer} timeline={timeline} />}
          <p class="hint">Times are relative to the first call in the file.</p>
          <Remarks stats={answer.stats} />
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
