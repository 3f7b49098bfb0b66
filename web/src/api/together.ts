// Queries that are asked at the same time go to the daemon as one request, which returns each response as soon as it can.

/** What is needed of a response. */
export type Reply = Pick<Response, 'ok' | 'status' | 'statusText' | 'headers' | 'text'>;

/** Asks for a URL. */
export type Fetch = (url: string, init: RequestInit) => Promise<Reply>;

/** What can be asked together with others: what /api/v1/answers knows. */
const askable = /^api\/v1\/((?:pages|features|releases|labels|series|coverage|catalog|newest|stats|vitals|top|compare|budgets|changes)(?:\?.*)?)$/s;

/** How many queries /api/v1/answers takes. */
const most = 16;

/** A query that waits for its response. */
interface Waiting {
  url: string;
  init: RequestInit;
  resolve(response: Reply): void;
  reject(reason: unknown): void;
}

/** What /api/v1/answers says of a response, in the line before it. */
interface Head {
  ask: number;
  status: number;
  header?: Record<string, string>;
}

/**
 * Returns a fetch that asks queries of the same moment together. Those with an ETag go alone: most responses to them are
 * that nothing has changed.
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
        await nextTask(); // each response is drawn on its own, so that no task is long
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

/** Returns a response whose text is there already. */
function replyOf(text: string, status: number, headers: Headers): Reply {
  return { ok: status >= 200 && status < 300, status, statusText: '', headers, text: () => Promise.resolve(text) };
}

/** Reads lines as they come, two at a time. */
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
      if (!text.includes('\n')) continue; // long lines come in many pieces
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
    await reader.cancel().catch(() => undefined); // or the rest of a broken response goes on coming
  }
}
