// Queries in flight, shared by all parts of a page with the same query.

import type { Result, Client } from '../api/client.ts';
import { isCancelled, Problem } from '../api/problem.ts';

/** The state of a query. */
export interface QueryState {
  result?: Result<unknown>;
  problem?: Problem;
  /** When the query was sent, in ms since 1970; undefined if it is not in flight. */
  pendingSince?: number;
  /** The reason for waiting before a retry. */
  waiting?: Problem;
  cancelled?: boolean;
}

interface Entry {
  state: QueryState;
  listeners: Set<() => void>;
  controller?: AbortController;
  every: number;
  /** When it was last sent, in ms since 1970. */
  asked: number;
}

/** The queries of all components on the page. */
export interface Queries {
  state(url: string): QueryState;
  /**
   * Sends a query unless its result is recent, and repeats it at an interval in ms; returns a
   * function to stop.
   */
  watch(url: string, listener: () => void, every: number): () => void;
  again(url: string): void;
  cancel(url: string): void;
  /** Repeats all queries, or only those that are due. */
  refresh(due?: (asked: number, every: number) => boolean): void;
  cancelAll(): void;
  /**
   * Repeats all queries as another user, and cancels queries in flight, whose responses are for the
   * previous user.
   */
  askAnew(): void;
  /** Calls the listener when any query is sent or has a result; returns a function to stop. */
  listen(listener: () => void): () => void;
  /** Returns the states of all queries. */
  all(): QueryState[];
}

/** Another page can use a result of this age, in ms, without a new query. */
const newEnough = 10_000;

/** The delay before a failed query is retried, in ms. */
const afterProblem = 10_000;

/** Reports whether a problem may disappear without intervention. */
function isPassing({ status }: Problem): boolean {
  return status == 0 || status == 429 || status >= 500;
}

/** Returns queries that a client sends. */
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
    if (entry.controller != controller) return; // it was sent again in the meantime
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
        queueMicrotask(() => drop(url, entry)); // the next page may need the same query
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
