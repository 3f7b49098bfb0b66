import assert from 'node:assert/strict';
import { test } from 'node:test';
import { together } from '../src/api/together.ts';

/** A fetch that records its requests. */
function asking(reply: (url: string, init: RequestInit) => Response | Promise<Response>) {
  const asked: string[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    asked.push(decodeURIComponent(url));
    init.signal?.throwIfAborted();
    return reply(url, init);
  };
  return { fetch: together(fetch), asked };
}

const line = (ask: number, body: unknown, status = 200, header = {}) =>
  `${JSON.stringify({ ask, status, header })}\n${JSON.stringify(body)}\n`;

/** A response that arrives in pieces. */
function pieces(...texts: string[]): Response {
  const encoder = new TextEncoder();
  return new Response(
    new ReadableStream({
      async start(controller) {
        for (const text of texts) {
          controller.enqueue(encoder.encode(text));
          await new Promise((next) => setTimeout(next));
        }
        controller.close();
      },
    }),
  );
}

test('simultaneous queries are one request, and each has its response', async () => {
  const whole = line(1, { n: 'é' }, 200, { ETag: '"x"', Age: '7' }) + line(0, { error: 'bad' }, 400);
  const { fetch, asked } = asking(() => pieces(whole.slice(0, 20), whole.slice(20, 31), whole.slice(31)));
  const [bad, good] = await Promise.all([fetch('api/v1/series?since=1h', {}), fetch('api/v1/catalog', {})]);
  assert.deepEqual(asked, ['api/v1/answers?ask=series?since=1h&ask=catalog']);
  assert.deepEqual([bad.status, await bad.text()], [400, '{"error":"bad"}']);
  assert.deepEqual(
    [good.status, good.headers.get('ETag'), good.headers.get('Age'), await good.text()],
    [200, '"x"', '7', '{"n":"é"}'],
  );
});

test('a single query, and a query with an ETag next to others, are sent separately', async () => {
  const { fetch, asked } = asking(() => new Response('{}'));
  await fetch('api/v1/series', {});
  await Promise.all([
    fetch('api/v1/catalog', {}),
    fetch('api/v1/pages', { headers: { 'If-None-Match': '"x"' } }),
    fetch('api/v1/tree?since=1h', {}),
    fetch('api/v1/view?id=1', {}),
    fetch('metrics', {}),
  ]);
  assert.deepEqual(asked.sort(), [
    'api/v1/catalog',
    'api/v1/pages',
    'api/v1/series',
    'api/v1/tree?since=1h',
    'api/v1/view?id=1',
    'metrics',
  ]);
});

test('a response that is not JSON ends the connection', async () => {
  let cancelled = false;
  const body = new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode('<html>\n\n')),
    cancel: () => void (cancelled = true),
  });
  const { fetch } = asking(() => new Response(body));
  const asked = ['series', 'catalog'].map((path) => fetch(`api/v1/${path}`, {}));
  for (const one of asked) await assert.rejects(one, SyntaxError);
  assert.ok(cancelled);
});

test('many queries are several requests', async () => {
  const { fetch, asked } = asking((url) => {
    const { length } = new URL(url, 'http://x').searchParams.getAll('ask');
    return pieces(Array.from({ length }, (_, i) => line(i, i)).join(''));
  });
  const responses = await Promise.all(Array.from({ length: 20 }, (_, i) => fetch(`api/v1/top?limit=${i}`, {})));
  assert.deepEqual(await Promise.all(responses.map(async (response) => Number(await response.text()))), [
    ...Array(16).keys(),
    0,
    1,
    2,
    3,
  ]);
  assert.equal(asked.length, 2);
});

test('an error of the request is the error of all its queries', async () => {
  const { fetch } = asking(() => new Response('{"error":"no"}', { status: 503, headers: { 'Retry-After': '5' } }));
  const responses = await Promise.all([fetch('api/v1/top', {}), fetch('api/v1/catalog', {})]);
  for (const response of responses) {
    assert.deepEqual(
      [response.status, response.headers.get('Retry-After'), await response.text()],
      [503, '5', '{"error":"no"}'],
    );
  }
});

test('missing responses at the end are errors, and so are unreadable ones', async () => {
  for (const [reply, reason] of [
    [pieces(line(0, 1)), /closed the connection/],
    [pieces(`${line(0, 1)}{"ask":1,`), /closed the connection/],
    [pieces(`${line(0, 1)}{"ask":1,"status":200}\n{"n`), /closed the connection/],
    [pieces(`${line(0, 1)}<html>\n\n`), /JSON/],
  ] as const) {
    const { fetch } = asking(() => reply);
    const [first, second] = await Promise.allSettled([fetch('api/v1/top', {}), fetch('api/v1/catalog', {})]);
    assert.equal(first.status, 'fulfilled');
    assert.match(String(second.status == 'rejected' && second.reason), reason);
  }
});

test('a long response is requested separately', async () => {
  const { fetch, asked } = asking((url) =>
    url.includes('answers') ? pieces(line(0, {}, 413) + line(1, 2)) : new Response('1'),
  );
  const responses = await Promise.all([fetch('api/v1/top', {}), fetch('api/v1/catalog', {})]);
  assert.deepEqual(await Promise.all(responses.map(async (response) => Number(await response.text()))), [1, 2]);
  assert.deepEqual(asked, ['api/v1/answers?ask=top&ask=catalog', 'api/v1/top']);
});

test('a cancelled query leaves the others, and the last one cancels the request', async () => {
  let given: AbortSignal | null | undefined;
  const { fetch } = asking((_, { signal }) => {
    given = signal;
    return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)));
  });
  const [one, other] = [new AbortController(), new AbortController()];
  const first = fetch('api/v1/top', { signal: one.signal });
  const second = fetch('api/v1/catalog', { signal: other.signal });
  await new Promise((next) => setTimeout(next));
  one.abort(new Error('given up'));
  await assert.rejects(first, /given up/);
  assert.equal(given!.aborted, false);
  other.abort();
  await assert.rejects(second);
  assert.equal(given!.aborted, true);
});
