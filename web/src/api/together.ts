// Batches simultaneous queries: the daemon gets one request, and streams each response as soon as
// it is ready.

/** The required properties of a response. */
export type Reply = Pick<Response, 'ok' | 'status' | 'statusText' | 'headers' | 'text'>;

/** Asks for a URL. */
export type Fetch = (url: string, init: RequestInit) => Promise<Reply>;

/** Queries that can be batched: those that /api/v1/answers supports. */
const askable = new RegExp(
  '^api/v1/((?:pages|features|releases|labels|series|coverage|catalog|newest|stats|vitals|top|compare|' +
    'budgets|changes)(?:\\?.*)?)$',
  's',
);

/** The maximum number of queries in a request to /api/v1/answers. */
const most = 16;

/** A query that waits for its response. */
interface Waiting {
  url: string;
  init: RequestInit;
  resolve(response: Reply): void;
  reject(reason: unknown): void;
}

/** The line of /api/v1/answers that precedes each response. */
interface Head {
  ask: number;
  status: number;
  header?: Record<string, string>;
}

/**
 * Returns a fetch that batches queries of the same task. Queries with an ETag are sent separately,
 * because most of their responses are 304 (Not Modified).
 */
export function together(fetch: (url: string, init: RequestInit) => Promise<Response>): Fetch {
  let waiting: Waiting[] = [];

  async function send(queries: Waiting[]): Promise<void> {
    if (queries.length == 1) return alone(queries[0]!);
    const params = new URLSearchParams();
    for (const { url } of queries) params.append('ask', askable.exec(url)![1]!);
    const controller = new AbortController();
    const left = new Set(queries);
    for (const query of queries) {
      query.init.signal?.addEventListener('abort', () => {
        query.reject(query.init.signal!.reason);
        left.delete(query);
        if (!left.size) controller.abort();
      });
    }
    try {
      const response = await fetch(`api/v1/answers?${params}`, { ...queries[0]!.init, signal: controller.signal });
      if (!response.ok || !response.body) {
        const text = await response.text();
        for (const { resolve } of left) resolve(replyOf(text, response.status, response.headers));
        return;
      }
      for await (const [line, body] of pairsOf(response.body)) {
        const { ask, status, header } = JSON.parse(line) as Head;
        const query = queries[ask];
        if (!query || !left.delete(query)) continue;
        if (status == 413) void alone(query);
        else query.resolve(replyOf(body, status, new Headers(header)));
        await nextTask(); // each response is drawn in its own task, so that no task is long
      }
      throw new TypeError('the daemon closed the connection before it responded');
    } catch (error) {
      for (const { reject } of left) reject(error);
    }
  }

  function alone({ url, init, resolve, reject }: Waiting): Promise<void> {
    return fetch(url, init).then(resolve, reject);
  }

  return (url, init) => {
    const headers = init.headers as Record<string, string> | undefined;
    if (!askable.test(url) || headers?.['If-None-Match']) return fetch(url, init);
    return new Promise((resolve, reject) => {
      waiting.push({ url, init, resolve, reject });
      if (waiting.length == 1) {
        queueMicrotask(() => {
          const queries = waiting;
          waiting = [];
          for (let i = 0; i < queries.length; i += most) void send(queries.slice(i, i + most));
        });
      }
    });
  };
}

function nextTask(): Promise<void> {
  return new Promise((next) => setTimeout(next));
}

/** Returns a response with a text that was already received. */
function replyOf(text: string, status: number, headers: Headers): Reply {
  return { ok: status >= 200 && status < 300, status, statusText: '', headers, text: () => Promise.resolve(text) };
}

/** Yields lines in pairs as they are received. */
async function* pairsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<[string, string]> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let first: string | undefined;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      rest += text;
      if (!text.includes('\n')) continue; // long lines are received in many pieces
      const lines = rest.split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        if (first == undefined) first = line;
        else {
          yield [first, line];
          first = undefined;
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined); // otherwise the rest of a broken response would still be received
  }
}
