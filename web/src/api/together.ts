// Queries that are asked at the same time go to the daemon as one request, which returns each response as soon as it can.

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** What can be asked together with others: what /api/v1/answers knows. */
const askable = /^api\/v1\/((?:pages|features|releases|labels|series|coverage|catalog|stats|vitals|top|compare|budgets)(?:\?.*)?)$/s;

/** How many queries /api/v1/answers takes. */
const most = 16;

/** A query that waits for its response. */
interface Waiting {
  url: string;
  init: RequestInit;
  resolve(response: Response): void;
  reject(reason: unknown): void;
}

/** A line of /api/v1/answers. */
interface Line {
  ask: number;
  status: number;
  header?: Record<string, string>;
  body: unknown;
}

/**
 * Returns a fetch that asks queries of the same moment together. Those with an ETag go alone: most responses to them are
 * that nothing has changed.
 */
export function together(fetch: Fetch): Fetch {
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
        for (const { resolve } of left) resolve(new Response(text, response));
        return;
      }
      for await (const { ask, status, header, body } of linesOf(response.body)) {
        const query = queries[ask];
        if (!query || !left.delete(query)) continue;
        if (status == 413) void alone(query);
        else query.resolve(new Response(JSON.stringify(body), { status, headers: header }));
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

/** Reads lines of JSON as they come. */
async function* linesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop()!;
      for (const line of lines) yield JSON.parse(line) as Line;
    }
  } finally {
    await reader.cancel().catch(() => undefined); // or the rest of a broken response goes on coming
  }
}
