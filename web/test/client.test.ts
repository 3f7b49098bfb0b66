import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../src/api/client.ts';
import { commandLines, quoted } from '../src/api/command.ts';
import { isCancelled, Problem } from '../src/api/problem.ts';
import { compare, top, urlOf } from '../src/api/queries.ts';
import { createQueries } from '../src/state/queries.ts';
import { selectionOf } from '../src/api/selection.ts';

type Reply = Response | Error | ((init: RequestInit) => Promise<Response>);

/** A fetch that returns these replies in turn, and records its requests. */
function replies(...all: Reply[]) {
  const asked: { url: string; headers: Record<string, string> }[] = [];
  const fetch = async (url: string, init: RequestInit) => {
    asked.push({ url, headers: init.headers as Record<string, string> });
    const reply = all.shift();
    if (!reply) throw new Error('too many requests');
    if (reply instanceof Error) throw reply;
    return typeof reply == 'function' ? reply(init) : reply;
  };
  return { fetch, asked };
}

const json = (value: unknown, headers: Record<string, string> = {}, status = 200) =>
  new Response(JSON.stringify(value), { status, headers });

test('an unchanged result is the same object', async () => {
  const { fetch, asked } = replies(
    json({ n: 1 }, { ETag: '"x"' }),
    new Response(null, { status: 304 }),
    json({ n: 1 }),
    json({ n: 1 }),
    json({ n: 2 }, { Age: '7' }),
  );
  let time = 1000;
  const client = createClient(fetch, () => time);
  const first = await client.ask('q');
  time = 2000;
  const second = await client.ask('q');
  assert.equal(asked[1]?.headers['If-None-Match'], '"x"');
  assert.equal(second.value, first.value);
  assert.deepEqual([first.received, second.received, first.age], [1000, 2000, 0]);
  const third = await client.ask('q');
  assert.deepEqual(third.value, { n: 1 });
  const fourth = await client.ask('q');
  assert.equal(fourth.value, third.value, 'the same text is the same object without an ETag, too');
  const fifth = await client.ask('q');
  assert.deepEqual([fifth.value, fifth.age], [{ n: 2 }, 7]);
  assert.equal(asked[3]?.headers['If-None-Match'], undefined);
  assert.equal(client.known('q')?.value, fifth.value);
});

test('problems have a message and a remedy', async () => {
  const cases: [Reply, number, RegExp, RegExp][] = [
    [json({ error: 'no token' }, {}, 401), 401, /no token/, /Log in/],
    [json({ error: 'bad label' }, {}, 400), 400, /bad label/, /Change/],
    [json({ error: 'too long' }, {}, 504), 504, /too long/, /Narrow/],
    [new Response('<html>bad gateway', { status: 502 }), 502, /bad gateway/, /Try again/],
    [new TypeError('Failed to fetch'), 0, /Failed to fetch/, /does not respond/],
    [new Response('<html>', { status: 200 }), 502, /not JSON/, /Try again/],
  ];
  for (const [reply, status, text, remedy] of cases) {
    const error = await createClient(replies(reply).fetch)
      .ask('q')
      .then(
        () => assert.fail('it had a result'),
        (error: unknown) => error,
      );
    assert.ok(error instanceof Problem);
    assert.equal(error.status, status);
    assert.match(error.message, text);
    assert.match(error.remedy, remedy);
  }
});

test('a query to a busy daemon is repeated after the time that it requests, and not indefinitely', async () => {
  const busy = () => json({ error: 'busy' }, { 'Retry-After': '5' }, 503);
  const waits: number[] = [];
  const wait = async (ms: number) => void waits.push(ms);
  const said: string[] = [];
  const client = createClient(replies(busy(), busy(), json(1)).fetch, Date.now, wait);
  const { value } = await client.ask('q', undefined, (problem) => said.push(problem.message));
  assert.deepEqual([value, waits, said], [1, [5000, 5000], ['busy', 'busy']]);
  const never = createClient(replies(busy(), busy(), busy(), busy()).fetch, Date.now, wait);
  await assert.rejects(never.ask('q'), { status: 503 });
  const unsaid = createClient(replies(json({ error: 'busy' }, {}, 503)).fetch, Date.now, wait);
  await assert.rejects(unsaid.ask('q'), { status: 503 });
});

test('a cancelled query is not a problem', async () => {
  const controller = new AbortController();
  const hang = (init: RequestInit) =>
    new Promise<Response>((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const asked = createClient(replies(hang).fetch).ask('q', controller.signal);
  controller.abort();
  await assert.rejects(asked, isCancelled);
});

/** Lets pending tasks and microtasks run. */
const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

test('parts with the same query share it and cancel it together', async () => {
  let aborted = 0;
  const hang = (init: RequestInit) =>
    new Promise<Response>((_, reject) =>
      init.signal?.addEventListener('abort', () => {
        aborted++;
        reject(init.signal?.reason);
      }),
    );
  const { fetch, asked } = replies(hang, json(1));
  const queries = createQueries(createClient(fetch));
  const stops = [queries.watch('q', () => {}, 60_000), queries.watch('q', () => {}, 60_000)];
  assert.equal(asked.length, 1);
  stops[0]?.();
  await turn();
  assert.equal(aborted, 0);
  stops[1]?.();
  await turn();
  assert.equal(aborted, 1);
  assert.deepEqual(queries.all(), []);
  const stop = queries.watch('q', () => {}, 60_000);
  await turn();
  assert.equal(queries.state('q').result?.value, 1);
  stop();
});

test('a response remains while the query is repeated, and when that fails', async () => {
  const { fetch, asked } = replies(json(1), json({ error: 'no' }, {}, 500), json(2));
  let time = 0;
  const queries = createQueries(
    createClient(fetch, () => time),
    () => time,
  );
  const states: unknown[] = [];
  const stop = queries.watch('q', () => states.push(queries.state('q').result?.value), 60_000);
  await turn();
  time = 59_999;
  queries.refresh((last, every) => time - last >= every);
  assert.equal(asked.length, 1, 'it is not due');
  time = 60_000;
  queries.refresh((last, every) => time - last >= every);
  await turn();
  assert.deepEqual([queries.state('q').result?.value, queries.state('q').problem?.status], [1, 500]);
  queries.refresh((last, every) => time - last >= every);
  assert.equal(asked.length, 2, 'a failed query is not repeated immediately');
  queries.again('q');
  await turn();
  assert.deepEqual([queries.state('q').result?.value, queries.state('q').problem], [2, undefined]);
  assert.ok(
    states.every((value, i) => i == 0 || value != undefined),
    'it is never taken away',
  );
  stop();
});

test('after a login, the rejection of an earlier request is ignored', async () => {
  let refuse = () => {};
  const late = () => new Promise<Response>((done) => (refuse = () => done(json({ error: 'who?' }, {}, 401))));
  const { fetch, asked } = replies(late, json(1));
  const queries = createQueries(createClient(fetch));
  const stop = queries.watch('q', () => {}, 60_000);
  queries.askAnew();
  refuse();
  await turn();
  assert.equal(asked.length, 2);
  const { result, problem, cancelled, pendingSince } = queries.state('q');
  assert.deepEqual([result?.value, problem, cancelled, pendingSince], [1, undefined, undefined, undefined]);
  stop();
});

test('a cancelled query remains cancelled until it is repeated', async () => {
  const hang = (init: RequestInit) =>
    new Promise<Response>((_, reject) => init.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
  const { fetch, asked } = replies(hang, json(1));
  const queries = createQueries(createClient(fetch));
  const stop = queries.watch('q', () => {}, 0);
  queries.cancel('q');
  await turn();
  assert.equal(queries.state('q').cancelled, true);
  queries.refresh();
  assert.equal(asked.length, 1);
  queries.again('q');
  await turn();
  assert.equal(queries.state('q').result?.value, 1);
  stop();
});

test('queries are the URLs of the API', () => {
  const selection = selectionOf(new URLSearchParams('page=/feed&label=a=b'));
  const url = urlOf(top(selection, { by: undefined, limit: 5 }));
  assert.equal(url, 'api/v1/top?page=%2Ffeed&since=24h&label=a%3Db&limit=5');
});

test('commands return the same numbers', () => {
  const selection = selectionOf(new URLSearchParams("page=/it's&release=B&since=7d&label=device=x y"));
  const lines = commandLines(compare(selection, { release: 'A' }), 'http://h:8419/');
  assert.deepEqual(
    lines.map(({ line }) => line),
    [
      "aggregate --addr h:8419 --page '/it'\\''s' --release B --label 'device=x y' --since 7d --compare-release " +
        'A --rows -1',
      "curl 'http://h:8419/api/v1/compare?page=%2Fit%27s&release=B&since=7d&label=device%3Dx+y&compare_release=A'",
      "go tool pprof -diff_base 'http://h:8419/pprof/profile?page=%2Fit%27s&release=A&label=device%3Dx+y&since=7d' " +
        "'http://h:8419/pprof/profile?page=%2Fit%27s&release=B&label=device%3Dx+y&since=7d'",
    ],
  );
  const below = commandLines(top(selection), 'https://host/profiles/');
  assert.match(below[0]!.line, /--addr https:\/\/host\/profiles .*--format top$/);
  assert.equal(quoted(''), "''");
  assert.equal(quoted('$(x) `y` "z"'), '\'$(x) `y` "z"\'');
});
