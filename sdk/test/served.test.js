import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { check } from './check.js';

// The scripts as the daemon serves them.

/** @type {(url: string, encoding: string) => Promise<{encoding?: string, body: Buffer}>} */
const get = (url, encoding) =>
  new Promise((done, failed) => {
    request(url, { headers: { 'Accept-Encoding': encoding } }, (response) => {
      /** @type {Buffer[]} */
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => done({ encoding: response.headers['content-encoding'], body: Buffer.concat(parts) }));
    })
      .on('error', failed)
      .end();
  });

check('scripts are the same in each encoding, and Brotli is the shortest', async ({ daemon }) => {
  const names = [
    'sdk.js',
    'sdk.mjs',
    'sdk-all.js',
    'sdk-all.mjs',
    'sdk-core.js',
    'sdk-core.mjs',
    'sdk-rest.mjs',
    'sdk-stackless.mjs',
    'sdk-recorder.mjs',
  ];
  for (const name of names) {
    const built = readFileSync(new URL(`../dist/${name}`, import.meta.url));
    const url = `${daemon.collector}/${name}`;
    const [plain, gzip, br] = await Promise.all(
      ['identity', 'gzip', 'gzip, deflate, br, zstd'].map((encoding) => get(url, encoding)),
    );
    assert.deepEqual([plain?.encoding, gzip?.encoding, br?.encoding], [undefined, 'gzip', 'br'], name);
    assert.ok(
      plain?.body.equals(built) &&
        gunzipSync(gzip?.body ?? '').equals(built) &&
        brotliDecompressSync(br?.body ?? '').equals(built),
      name,
    );
    assert.ok((br?.body.length ?? 0) < (gzip?.body.length ?? 0), name);
  }
});

check(
  'a browser loads the scripts in Brotli, including parts and their integrity',
  async ({ daemon, site, context }) => {
    const page = await context.newPage();
    /** @type {Record<string, string | undefined>} */
    const took = {};
    page.on('response', (response) => {
      const { pathname, origin } = new URL(response.url());
      if (origin == new URL(daemon.collector).origin && /js$/.test(pathname))
        took[pathname] = response.headers()['content-encoding'];
    });
    await page.goto(site.page('/served', { sdk: daemon.collector + '/sdk.js' }));
    await page.waitForFunction(() => globalThis.fieldtrie);
    while (Object.keys(took).length < 2) await page.waitForTimeout(50);
    assert.ok(
      Object.values(took).every((encoding) => encoding == 'br'),
      JSON.stringify(took),
    );
  },
);
