// Client of the API. Unchanged results cost nothing and remain the same objects.

import { Problem } from './problem.ts';
import type { Fetch, Reply } from './together.ts';

/** A response of the API and its age. */
export interface Result<T> {
  value: T;
  /** When it was received, in ms since 1970. */
  received: number;
  /** Its age on arrival, in seconds. */
  age: number;
}

/** Sends queries, which are relative URLs. */
export interface Client {
  /** Returns the result. Throws a Problem, or the reason of an aborted signal. */
  ask<T>(url: string, signal?: AbortSignal, waiting?: (problem: Problem) => void): Promise<Result<T>>;
  /** Returns the last result without sending a query. */
  known<T>(url: string): Result<T> | undefined;
}

interface Kept {
  result: Result<unknown>;
  etag: string;
  /** Length of the response text. */
  size: number;
  /** Text of the response, if it has no ETag and is short enough to compare. */
  text: string;
}

const mostKept = 32;
/** Maximum total length of cached responses. */
const mostLetters = 8_000_000;
const longestCompared = 200_000;
const mostTries = 4;

/** Returns a client that caches responses, and retries while the daemon is busy. */
export function createClient(
  fetch: Fetch,
  now: () => number = Date.now,
  wait: (ms: number, signal?: AbortSignal) => Promise<void> = pause,
): Client {
  const kept = new Map<string, Kept>();
  let letters = 0;

  function keep(url: string, entry: Kept): void {
    letters += entry.size - (kept.get(url)?.size ?? 0);
    kept.delete(url);
    kept.set(url, entry);
    for (const [oldest, { size }] of kept) {
      if (kept.size == 1 || (kept.size <= mostKept && letters <= mostLetters)) break;
      kept.delete(oldest);
      letters -= size;
    }
  }

  async function askOnce<T>(url: string, signal?: AbortSignal): Promise<Result<T>> {
    const before = kept.get(url);
    // Set explicitly: with no-store, fetch would send no-cache, and a daemon with a bucket would
    // wait until all recent traces are rolled up.
    const headers: Record<string, string> = { Accept: 'application/json', 'Cache-Control': 'max-age=0' };
    if (before?.etag) headers['If-None-Match'] = before.etag;
    const response = await reach(fetch, url, { headers, signal, credentials: 'same-origin', cache: 'no-store' });
    const age = Number(response.headers.get('Age')) || 0;
    if (response.status == 304 && before) {
      const result = { ...before.result, received: now(), age };
      keep(url, { ...before, result });
      return result as Result<T>;
    }
    const text = await response.text();
    if (!response.ok) throw problemOf(response, text);
    const same = before && before.text == text && text != '';
    const value = same ? before.result.value : isPlain(response) ? text : parse(text);
    const result = { value, received: now(), age };
    const etag = response.headers.get('ETag') ?? '';
    // With an ETag, the daemon detects changes, so the text need not be kept as well.
    const compared = !etag && text.length <= longestCompared ? text : '';
    keep(url, { result, etag, size: text.length, text: compared });
    return result as Result<T>;
  }

  return {
    known: <T>(url: string) => kept.get(url)?.result as Result<T> | undefined,
    async ask<T>(url: string, signal?: AbortSignal, waiting?: (problem: Problem) => void) {
      for (let tries = 1; ; tries++) {
        try {
          return await askOnce<T>(url, signal);
        } catch (error) {
          if (!(error instanceof Problem) || !error.retryAfter || tries == mostTries) throw error;
          waiting?.(error);
          await wait(error.retryAfter * 1000, signal);
        }
      }
    },
  };
}

async function reach(fetch: Fetch, url: string, init: RequestInit & { signal?: AbortSignal }): Promise<Reply> {
  try {
    return await fetch(url, init);
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new Problem(0, error instanceof Error ? error.message : String(error));
  }
}

/** Reports whether a response is in the text format of Prometheus. */
function isPlain(response: Reply): boolean {
  return /^text\/plain; version=/.test(response.headers.get('Content-Type') ?? '');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem(502, `the response is not JSON; it begins with ${JSON.stringify(text.slice(0, 80))}`);
  }
}

function problemOf(response: Reply, text: string): Problem {
  let said = text.slice(0, 500);
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error == 'string') said = error;
  } catch {
    // A proxy in front of the daemon has responded: show its text.
  }
  const busy = response.status == 503 || response.status == 429;
  const after = busy ? Math.min(Math.max(Number(response.headers.get('Retry-After')) || 0, 0), 60) : 0;
  return new Problem(response.status, said || `${response.status} ${response.statusText}`, after);
}

/** Waits, unless it is aborted. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}
