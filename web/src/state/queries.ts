// Queries in flight, shared by all parts of a page with the same query.

import type { Result, Client } from '../api/client.ts';
import { isCancelled, Problem } from '../api/problem.ts';

/** How things stand with a query. */
export interface QueryState {
  result?: Result<unknown>;
  problem?: Problem;
  /** When the query was sent, in ms since 1970; undefined if it is not in flight. */
  pendingSince?: number;
  /** Why it waits before it is asked again. */
  waiting?: Problem;
  cancelled?: boolean;
}

interface Entry {
  state: QueryState;
  listeners: Set<() => void>;
  controller?: AbortController;
  every: number;
  /** When it was last asked, in ms since 1970. */
  asked: number;
}

/** All queries that components wait for. */
export interface Queries {
  state(url: string): QueryState;
  /** Asks, unless the result is new enough, and again after some milliseconds each; returns how to stop. */
  watch(url: string, listener: () => void, every: number): () => void;
  again(url: string): void;
  cancel(url: string): void;
  /** Asks all again, or those alone that are due. */
  refresh(due?: (asked: number, every: number) => boolean): void;
  cancelAll(): void;
  /** Repeats all queries as another user, and cancels queries in flight, whose responses are for the previous user. */
  askAnew(): void;
  /** Calls when any query is sent or has its result; returns how to stop. */
  listen(listener: () => void): () => void;
  /** How things stand with all of them. */
  all(): QueryState[];
}

/** A result that came this many milliseconds ago is not asked for again when another page needs it. */
const newEnough = 10_000;

/** After this many milliseconds a query is asked again that failed. */
const afterProblem = 10_000;

/** Whether a problem may be gone without anybody doing something about it. */
function isPassing({ status }: Problem): boolean {
  return status == 0 || status == 429 || status >= 500;
}

/** Returns queries that a client asks. */
export function createQueries(client: Client, now: () => number = Date.now): Queries {
  const entries = new Map<string, Entry>();
  const watchers = new Set<() => void>();

  function set(entry: Entry, state: QueryState): void {
    entry.state = state;
    for (const listener of [...entry.listeners, ...watchers]) listener();
  }

  async function ask(url: string, entry: Entry): Promise<void> {
    if (entry.controller) return;
    const controller = (entry.controller = new AbortController());
    const { result, problem } = entry.state;
    entry.asked = now();
    const pending = { result, problem, pendingSince: now() };
    set(entry, pending);
    const waiting = (waiting: Problem) => set(entry, { ...pending, waiting });
    let state: QueryState;
    try {
      state = { result: await client.ask(url, controller.signal, waiting) };
    } catch (error) {
      if (isCancelled(error)) state = { result, cancelled: true };
      else state = { result, problem: error instanceof Problem ? error : new Problem(500, String(error)) };
    }
    if (entry.controller != controller) return; // it was asked anew since
    entry.controller = undefined;
    if (entries.get(url) == entry) set(entry, state);
  }

  function drop(url: string, entry: Entry): void {
    if (entry.listeners.size) return;
    entries.delete(url);
    entry.controller?.abort();
    for (const watcher of watchers) watcher();
  }

  return {
    state: (url) => entries.get(url)?.state ?? { result: client.known(url) },
    watch(url, listener, every) {
      const entry = entries.get(url) ?? begun(client.known(url), every);
      entries.set(url, entry);
      entry.listeners.add(listener);
      entry.every = Math.min(entry.every, every);
      const received = entry.state.result?.received;
      if (!entry.state.problem && (received == undefined || now() - received > newEnough)) void ask(url, entry);
      return () => {
        entry.listeners.delete(listener);
        queueMicrotask(() => drop(url, entry)); // the next page may ask the same
      };
    },
    again(url) {
      const entry = entries.get(url);
      if (entry) void ask(url, entry);
    },
    cancel: (url) => entries.get(url)?.controller?.abort(),
    refresh(due = () => true) {
      for (const [url, entry] of entries) {
        const { cancelled, problem } = entry.state;
        const every = problem && isPassing(problem) ? Math.min(entry.every, afterProblem) : entry.every;
        if (!cancelled && due(entry.asked, every)) void ask(url, entry);
      }
    },
    cancelAll() {
      for (const entry of entries.values()) entry.controller?.abort();
    },
    askAnew() {
      for (const [url, entry] of entries) {
        entry.controller?.abort();
        entry.controller = undefined;
        void ask(url, entry);
      }
    },
    listen(listener) {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
    all: () => [...entries.values()].map((entry) => entry.state),
  };
}

function begun(result: Result<unknown> | undefined, every: number): Entry {
  return { state: { result }, listeners: new Set(), every, asked: result?.received ?? 0 };
}
