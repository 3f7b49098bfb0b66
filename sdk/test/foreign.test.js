import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import { check } from './check.js';

// A page of another origin, in the browser of a user with access to the private address, tries to
// read its data. The daemon is at 127.0.0.1; the page is on localhost, which is another site.

/** A trace with names that make folded stacks a valid script: the rest is inside a string. */
const hostile = {
  page: '/checkout',
  interval: 10,
  viewId: '0123456789abcdef0123456789abcdef',
  trace: {
    resources: ['~'],
    frames: [{ name: ' x=`' }, { name: '`,done=1//', resourceId: 0, line: 1, column: 1 }],
    stacks: [{ frameId: 0 }, { frameId: 1 }],
    samples: [
      { timestamp: 0, stackId: 0 },
      { timestamp: 10, stackId: 1 },
    ],
  },
};

/**
 * Listens on a free port.
 * @param {import('node:http').RequestListener} answer
 */
async function listen(answer) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { port, close: () => (server.closeAllConnections(), server.close()) };
}

/**
 * The results of the page: each attempt by name.
 * @param {string} at the private address
 */
const attempts = async (at) => {
  const profile = `http://${at}/api/v1/profile?page=/checkout&format=`;
  /** @type {Record<string, string>} */
  const found = {};
  /** @param {HTMLElement & {src: string}} element @param {string} src */
  const load = (element, src) =>
    new Promise((resolve) => {
      element.onload = () => resolve('loaded');
      element.onerror = () => resolve('refused');
      element.src = src;
      document.body.append(element);
    });
  await load(document.createElement('script'), profile + 'folded');
  found.script = 'done' in globalThis ? `read ${globalThis.x.length}` : 'refused';
  found.image = await load(document.createElement('img'), profile + 'svg');
  /** @param {string} name @param {string} path @param {RequestInit} init */
  const fetched = async (name, path, init) => {
    try {
      const response = await fetch(`http://${at}${path}`, init);
      found[name] = response.type == 'opaque' ? 'sent' : await response.text();
    } catch {
      found[name] = 'refused';
    }
  };
  await fetched('cors', '/api/v1/pages', {});
  await fetched('backup', '/v1/backup', { mode: 'no-cors' });
  await fetched('health', '/healthz', { mode: 'no-cors' });
  await fetched('post', '/querier.v1.QuerierService/LabelNames', {
    method: 'POST',
    mode: 'no-cors',
    headers: { 'Content-Type': 'text/plain' },
    body: '{}',
  });
  return found;
};

check('a page of another origin reads nothing', async ({ daemon, open, expect }) => {
  for (const problem of [/Failed to load resource/, /blocked by CORS policy/, /MIME type/]) expect(problem);
  const sent = await fetch(`${daemon.collector}/v1/traces`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(hostile),
  });
  assert.equal(sent.status, 202, await sent.text());
  assert.match(await daemon.get('/api/v1/pages'), /\/checkout/); // which waits for the rollup
  const evil = await listen((_, res) =>
    res.setHeader('Content-Type', 'text/html').end('<!doctype html><title>x</title><body>'),
  );
  // Forwards the responses of a daemon without protection, so that the test can fail.
  const [host, port] = daemon.address.split(':');
  const unguarded = await listen((req, res) => {
    const headers = Object.fromEntries(
      Object.entries(req.headers).filter(([name]) => !/^(sec-fetch|origin|accept-encoding)/.test(name)),
    );
    req.pipe(
      request(
        { host, port, path: req.url, method: req.method, headers: { ...headers, host: daemon.address } },
        (from) => {
          res.writeHead(from.statusCode ?? 500, { 'Content-Type': from.headers['content-type'] ?? '' });
          from.pipe(res);
        },
      ),
    );
  });
  try {
    const page = await open(`http://localhost:${evil.port}/`);
    const unprotected = await page.evaluate(attempts, `127.0.0.1:${unguarded.port}`);
    assert.match(unprotected.script, /^read \d+$/);
    assert.deepEqual(
      { ...unprotected, script: '' },
      { script: '', image: 'loaded', cors: 'refused', backup: 'sent', health: 'sent', post: 'sent' },
    );

    const again = await open(`http://localhost:${evil.port}/`);
    const all = {
      script: 'refused',
      image: 'refused',
      cors: 'refused',
      backup: 'refused',
      health: 'refused',
      post: 'refused',
    };
    assert.deepEqual(await again.evaluate(attempts, daemon.address), all);

    // Typed URLs are allowed.
    const own = await open(`http://${daemon.address}/api/v1/pages`);
    assert.match(await own.content(), /\/checkout/);
    // Requests of pages of this origin are allowed.
    assert.match(
      await own.evaluate(() => fetch('/api/v1/profile?page=/checkout&format=folded').then((r) => r.text())),
      /done=1/,
    );
    // Links from other sites are allowed, except to a backup.
    /** @param {string} path */
    const follow = async (path) => {
      const link = await open(`http://localhost:${evil.port}/`);
      const answered = link.waitForResponse((response) => response.url().includes(daemon.address));
      await link.evaluate((url) => void (location.href = url), `http://${daemon.address}${path}`);
      return (await answered).status();
    };
    assert.equal(await follow('/api/v1/pages'), 200);
    assert.equal(await follow('/v1/backup'), 403);
    const metrics = await (await fetch(`http://${daemon.address}/metrics`)).text();
    assert.match(metrics, /fieldtrie_access_refused_total\{reason="foreign"\} 7/);
  } finally {
    evil.close();
    unguarded.close();
  }
});
