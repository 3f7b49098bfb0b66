// The threads of recordings, and the distribution of their time.

import { count, shown, time } from '../tree/format.ts';

/** A thread of a recording, as encode/output describes it. Times are µs. */
export interface Thread {
  /** The value of the label thread that selects it. */
  key: string;
  /** The file name. */
  recording: string;
  /** Numbers and names; 0 and '' if unknown. */
  process: number;
  process_name: string;
  thread: number;
  name: string;
  /** Whether it was sampled. Otherwise only its total work is known. */
  sampled: boolean;
  /** Whether its work includes events of the browser. */
  events: boolean;
  javascript_us: number;
  gc_us: number;
  program_us: number;
  idle_us: number;
  work_us: number;
  main: boolean;
  /** Whether it is shown initially. */
  shown: boolean;
}

/** The distribution of the time of some threads, in µs: a sum, never a mean. */
export interface Spent {
  /** Whether the work of all threads is only functions, without events of the browser. */
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

/** Returns the title of a thread: 'CrRendererMain 442/461'. */
export function titleOf({ name, process, thread }: Thread): string {
  const numbers = process || thread ? `${process}/${thread}` : '';
  return [shown(name, 60), numbers].filter(Boolean).join(' ') || 'thread';
}

/** Returns the title of a thread with its time, for a list. */
export function choiceOf(thread: Thread): string {
  const { functions, javascript, work } = sumOf([thread]);
  return (
    `${titleOf(thread)}: ` +
    `${functions ? `${time(javascript / 1000)} of JavaScript` : `${time(work / 1000)} of work`}`
  );
}

/** Returns the title of a sum of threads. */
export function sumTitle(threads: readonly Thread[]): string {
  const recordings = new Set(threads.map(({ recording }) => recording)).size;
  if (recordings == threads.length) return `Sum of ${count(recordings)} recordings, one thread each`;
  return recordings == 1
    ? `Sum of ${count(threads.length)} threads`
    : `Sum of ${count(threads.length)} threads of ${count(recordings)} recordings`;
}

/** Groups threads by process, in their order; each process has a name. */
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
