// The shown thread of a recording, a choice of other threads, and the distribution of their time.

import { count, signed, time } from '../tree/format.ts';
import { Fact } from './Fact.tsx';
import { byProcess, choiceOf, sumOf, sumTitle, titleOf, type Thread } from './threads.ts';

/** The choice of all initially shown threads, if there are several. */
export const sum = '';

interface Props {
  threads: readonly Thread[];
  /** The key of the chosen thread, or sum. */
  chosen: string;
  onChoose(key: string): void;
  /** The threads in the sum. */
  summed: readonly Thread[];
}

/** The name of the shown thread, or a choice if there are several. */
export function ThreadChoice({ threads, chosen, onChoose, summed }: Props) {
  const [only] = threads;
  if (threads.length < 2) {
    return only && (only.name || only.process || only.thread) ? <Fact name="Thread">{titleOf(only)}</Fact> : null;
  }
  return (
    <div>
      <dt>
        <label for="threads">Thread ({count(threads.length)} in all)</label>
      </dt>
      <dd>
        <select id="threads" value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
          {summed.length > 1 && <option value={sum}>{sumTitle(summed)}</option>}
          {byProcess(threads).map(([process, of]) => (
            <optgroup key={of[0]!.key} label={process || 'Threads'}>
              {of.map((thread) => (
                <option key={thread.key} value={thread.key}>
                  {choiceOf(thread)}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      </dd>
    </div>
  );
}

/** The time of threads by kind, and its difference from the other side. */
export function ThreadTimes({ threads, base = [] }: { threads: readonly Thread[]; base?: readonly Thread[] }) {
  const now = sumOf(threads);
  const before = sumOf(base);
  const of = now.functions ? 'javascript' : 'work';
  const change = base.length > 0 ? (now[of] - before[of]) / 1000 : 0;
  return (
    <>
      <Fact name={of == 'work' ? 'Work' : 'JavaScript'}>
        <strong>{time(now[of] / 1000)}</strong>
        {change != 0 && (
          <span class={change > 0 ? 'slower' : 'faster'}>
            {' '}
            <span aria-hidden="true">{change > 0 ? '▲' : '▼'}</span> {signed(change)}
          </span>
        )}
      </Fact>
      {of == 'work' && now.javascript > 0 && <Fact name="of which JavaScript">{time(now.javascript / 1000)}</Fact>}
      {now.gc > 0 && <Fact name="Garbage collection">{time(now.gc / 1000)}</Fact>}
      {now.program > 0 && <Fact name="(program), native">{time(now.program / 1000)}</Fact>}
      {now.idle > 0 && <Fact name="Idle">{time(now.idle / 1000)}</Fact>}
    </>
  );
}
