// The responses that the parts of a page show.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { createClient } from '../api/client.ts';
import { Problem } from '../api/problem.ts';
import { urlOf, type Query } from '../api/queries.ts';
import { together } from '../api/together.ts';
import { mayAsk, noteScopes } from './login.ts';
import { createQueries, type QueryState } from './queries.ts';

const queries = createQueries(createClient(together(async (url, init) => noteScopes(await fetch(url, init)))));

/** The interval of queries, in ms. */
const refreshAfter = 60_000;

/** A response on the screen, and the state of its query. */
export interface Shown<T> {
  /** The last response; while a changed query is in flight, the response to the previous one. */
  response?: T;
  /** Whether the response belongs to the previous query. */
  old: boolean;
  problem?: Problem;
  waiting?: Problem;
  cancelled: boolean;
  /** When the query was sent, in ms since 1970; undefined if it is not in flight. */
  pendingSince?: number;
  cancel(): void;
  again(): void;
}

/**
 * Sends a query, keeps its response up to date, and cancels it with its last component. Without a
 * query, there is no response.
 */
export function useQuery<T>(query: Query<T> | undefined, every = refreshAfter): Shown<T> {
  const url = query ? urlOf(query) : '';
  const [, draw] = useState(0);
  const last = useRef<T | undefined>(undefined);
  useLayoutEffect(() => {
    if (url) return queries.watch(url, () => draw((n) => n + 1), every);
  }, [url, every]);
  const state: QueryState = url ? queries.state(url) : {};
  const current = state.result?.value as T | undefined;
  useEffect(() => {
    if (current != undefined) last.current = current;
  }, [current]);
  const old = current == undefined && last.current != undefined && url != '';
  return {
    response: current ?? (url && !state.problem ? last.current : undefined),
    old,
    problem: state.problem,
    waiting: state.waiting,
    cancelled: !!state.cancelled,
    pendingSince: state.pendingSince,
    cancel: () => queries.cancel(url),
    again: () => queries.again(url),
  };
}

/** The state of all queries of the page. */
export interface Overall {
  /** When the oldest query in flight was sent; undefined if there is none. */
  pendingSince?: number;
  /** The time of the oldest data on the screen, in ms since 1970. */
  asOf?: number;
  problem?: Problem;
}

function overall(): Overall {
  const all = queries.all();
  const least = (times: (number | undefined)[]) => {
    const known = times.filter((time) => time != undefined);
    return known.length ? Math.min(...known) : undefined;
  };
  return {
    pendingSince: least(all.map((one) => one.pendingSince)),
    asOf: least(all.map(({ result }) => result && result.received - result.age * 1000)),
    problem: all.find(({ problem }) => problem && problem.status != 404)?.problem,
  };
}

/** Returns the state of all queries of the page. */
export function useOverall(): Overall {
  const [state, setState] = useState<Overall>({});
  useEffect(() => {
    let waits = false;
    setState(overall()); // it may have changed before this listener was added
    return queries.listen(() => {
      if (waits) return;
      waits = true;
      queueMicrotask(() => {
        waits = false;
        setState(overall());
      });
    });
  }, []);
  return state;
}

/** Repeats all queries of the page. */
export function refreshAll(): void {
  queries.refresh();
}

/** Repeats all queries of the page after a login. */
export function askAllAnew(): void {
  queries.askAnew();
}

/** Cancels all queries in flight. */
export function cancelAll(): void {
  queries.cancelAll();
}

/** Whether a pointer is pressed. */
let pressed = false;

/**
 * Reports whether an update would not disturb the user: no pointer over changing parts, no drag, no
 * open explanation and no selected text.
 */
function calm(): boolean {
  const busy = pressed || document.hidden || document.querySelector('[data-steady]:hover, :popover-open');
  return !busy && (getSelection()?.isCollapsed ?? true);
}

/**
 * Keeps responses up to date while the page is visible and an update would not disturb the user;
 * returns a function to stop.
 */
export function keepFresh(): () => void {
  const press = (event: PointerEvent) => (pressed = event.type == 'pointerdown');
  const events = ['pointerdown', 'pointerup', 'pointercancel'] as const;
  for (const name of events) addEventListener(name, press, true);
  const timer = setInterval(() => {
    if (calm()) queries.refresh((asked, every) => Date.now() - asked >= every);
  }, 2_000);
  return () => {
    clearInterval(timer);
    for (const name of events) removeEventListener(name, press, true);
  };
}

/**
 * Returns the current minute, in ms since 1970. It does not advance while an update would disturb
 * the user.
 */
export function useMinute(): number {
  const minute = () => Date.now() - (Date.now() % 60_000);
  const [now, setNow] = useState(minute);
  useEffect(() => {
    const timer = setInterval(() => calm() && setNow(minute()), 5_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

let settled = false;

/** Reports whether the first queries have responses. Less urgent queries wait for that. */
export function useSettled(): boolean {
  const [state, setState] = useState(settled);
  useEffect(() => {
    if (settled) return;
    const stop = queries.listen(() => {
      const all = queries.all();
      if (settled || !all.length || all.some(({ pendingSince }) => pendingSince != undefined)) return;
      settled = true;
      setState(true);
    });
    return stop;
  }, []);
  return state || settled;
}

/**
 * Reports whether queries for single page views are allowed. This is known after the first
 * response.
 */
export function useMayViews(): boolean {
  return useSettled() && mayAsk('views');
}
