// The threads of recordings, and what their time went to.

import { count, shown, time } from '../tree/format.ts';

/** A thread of a recording, as encode/output describes it. Times are µs. */
export interface Thread {
  /** The value of the label thread that selects it. */
  key: string;
  /** The name of the file. */
  recording: string;
  /** Numbers and names; 0 and '' if unknown. */
  process: number;
  process_name: string;
  thread: number;
  name: string;
  /** Whether a profiler saw its functions. Else only its work is known. */
  sampled: boolean;
  /** Whether events of the browser are among its work. */
  events: boolean;
  javascript_us: number;
  gc_us: number;
  program_us: number;
  idle_us: number;
  work_us: number;
  main: boolean;
  /** Whether it is among what is shown at first. */
  shown: boolean;
}

/** What the time of some threads went to, in µs: a sum, and never a mean. */
export interface Spent {
  /** Whether only functions are in the work of all of them, and no events of the browser. */
  functions: boolean;
  javascript: number;
  gc: number;
  program: number;
  idle: number;
  work: number;
}

/** Returns the sum over threads. */
export function sumOf(threads: readonly Thread[]): Spent {
  const sum = (of: (thread: Thread) => number) => threads.reduce((all, thread) => all + of(thread), 0);
  return {
    functions: threads.every(({ sampled, events }) => sampled && !events),
    javascript: sum((thread) => thread.javascript_us),
    gc: sum((thread) => thread.gc_us),
    program: sum((thread) => thread.program_us),
    idle: sum((thread) => thread.idle_us),
    work: sum((thread) => thread.work_us),
  };
}

/** Names a thread: 'CrRendererMain 442/461'. */
export function titleOf({ name, process, thread }: Thread): string {
  const numbers = process || thread ? `${process}/${thread}` : '';
  return [shown(name, 60), numbers].filter(Boolean).join(' ') || 'thread';
}

/** Names a thread with its time, for a list of them. */
export function choiceOf(thread: Thread): string {
  const { functions, javascript, work } = sumOf([thread]);
  return `${titleOf(thread)}: ${functions ? `${time(javascript / 1000)} of JavaScript` : `${time(work / 1000)} of work`}`;
}

/** Returns the title of a sum of threads. */
export function sumTitle(threads: readonly Thread[]): string {
  const recordings = new Set(threads.map(({ recording }) => recording)).size;
  if (recordings == threads.length) return `Sum of ${count(recordings)} recordings, a thread of each`;
  return recordings == 1 ? `Sum of ${count(threads.length)} threads` : `Sum of ${count(threads.length)} threads of ${count(recordings)} recordings`;
}

/** Returns threads by process, in their order, with a name for each process. */
export function byProcess(threads: readonly Thread[]): [name: string, threads: Thread[]][] {
  const recordings = new Set(threads.map(({ recording }) => recording)).size;
  const groups = new Map<string, [string, Thread[]]>();
  for (const thread of threads) {
    const { recording, process, process_name } = thread;
    const key = JSON.stringify([recording, process]);
    const inWords = [shown(process_name, 60) || (process ? 'process' : ''), process || ''].filter(Boolean).join(' ');
    const name = [recordings > 1 && shown(recording, 80), inWords].filter(Boolean).join(', ');
    const group = groups.get(key) ?? [name, []];
    group[1].push(thread);
    groups.set(key, group);
  }
  return [...groups.values()];
}
