// node bench/figures.js DIR
//
// Measures the script, and its encoder against JSON, with the traces of a folder. It prints one
// figure per line, as JSON; "make bench" shows them with the others.
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { encodeTrace } from '../src/encodeTrace.js';
import { launch } from '../test/browser.js';

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];
const print = (name, value, unit, reach = '') => console.log(JSON.stringify({ name, value, unit, reach }));

/** A context of usual size for a page view. */
const context = (page) => ({
  page,
  $viewId: crypto.getRandomValues(new Uint8Array(16)),
  $chunk: 0,
  timeOrigin: 1795216764503.8,
  $interval: 10,
  $share: 0.05,
  release: '2026.11.3',
  environment: 'production',
  labels: { device: 'desktop-high', connection: '4g', navigation: 'navigate', phase: 'idle' },
  $spans: [
    [0, 3500.5, 2, 'phase=load'],
    [4200, 4264, 2, 'phase=interaction'],
    [4210.3, 4251.9, 1, 'search'],
  ],
});

function read(dir, name) {
  const data = readFileSync(join(dir, name));
  const { page, trace } = JSON.parse(String(name.endsWith('.gz') ? gunzipSync(data) : data));
  return { page, trace, json: JSON.stringify(trace) };
}

/** Download sizes: page views that are not profiled load only the loader, others also the rest. */
function sizes() {
  const size = (file, pack) => pack(readFileSync(new URL(`../dist/${file}`, import.meta.url)));
  const files = {
    loader: ['sdk.js', 1024],
    rest: ['sdk-rest.mjs'],
    stackless: ['sdk-stackless.mjs'],
    recorder: ['sdk-recorder.mjs'],
    all: ['sdk-all.js', 6200],
    core: ['sdk-core.js', 4200],
    npm_loader: ['loader.mjs', 1024],
  };
  for (const [name, [file, reach]] of Object.entries(files)) {
    print(
      `sdk/${name}_gz`,
      size(file, (data) => gzipSync(data, { level: 9 })).length,
      'bytes',
      reach ? `<= ${reach}` : '',
    );
    print(`sdk/${name}_br`, size(file, brotliCompressSync).length, 'bytes');
  }
}

/** Encoded bytes of each page view, and bytes of its trace as gzipped JSON. */
function bytes(traces) {
  const ratios = traces.map(({ page, trace, json }) => {
    const envelope = JSON.stringify({ ...context(page), viewId: '0123456789abcdef0123456789abcdef' });
    return encodeTrace(trace, context(page), () => [1000, 1000, 500, 0, 0]).length / gzipSync(envelope + json).length;
  });
  print('sdk/bytes_vs_jsongz', median(ratios), 'ratio', '<= 0.65');
}

/**
 * Bytes of a page view that is sent in chunks of at most a third of its length, as from phones,
 * relative to one chunk.
 */
function phoneBytes(traces) {
  const ratios = traces.map(({ page, trace }) => {
    const size = (samples) => encodeTrace({ ...trace, samples }, context(page), () => [1000, 1000, 500, 0, 0]).length;
    const [first, last] = [trace.samples[0].timestamp, trace.samples.at(-1).timestamp];
    let sum = 0;
    for (let from = -Infinity, age = 600; from < last; age += 600 + age / 2) {
      const chunk = trace.samples.filter(({ timestamp }) => timestamp > from && timestamp <= first + age);
      if (chunk.length) sum += size(chunk);
      from = first + age;
    }
    return sum / size(trace.samples);
  });
  print('sdk/phone_bytes', median(ratios), 'ratio');
}

/** Runs in the page: returns the times in ms to encode a trace and to convert it to JSON. */
async function timesInPage({ page, trace, context }) {
  const { encodeTrace } = await import('/encodeTrace.js');
  const time = (work) => {
    const from = performance.now();
    work();
    return performance.now() - from;
  };
  const encode = () => encodeTrace(trace, { ...context, page, $viewId: new Uint8Array(16) }, () => []);
  const json = () => JSON.stringify(trace);
  const first = time(encode);
  const rounds = Array.from({ length: 400 }, () => [time(encode), time(json)]).slice(200);
  const middle = (i) => rounds.map((round) => round[i]).sort((a, b) => a - b)[100];
  return { first, encode: middle(0), json: middle(1) };
}

async function times(traces) {
  const server = createServer((request, response) => {
    // The page is isolated, which gives it a clock with a resolution of 5 µs.
    response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
    response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
    if (!request.url.endsWith('.js')) return response.setHeader('Content-Type', 'text/html').end('<!doctype html>');
    const source = readFileSync(new URL(`../src${request.url}`, import.meta.url));
    response.setHeader('Content-Type', 'text/javascript').end(source);
  }).listen(0, '127.0.0.1');
  const browser = await launch();
  traces = traces.toSorted((a, b) => a.json.length - b.json.length);
  for (const [name, trace] of [
    ['median', traces[traces.length >> 1]],
    ['largest', traces.at(-1)],
  ]) {
    const runs = [];
    for (let i = 0; i < 7; i++) {
      const page = await browser.newPage(); // a new process, so nothing is cached or compiled
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      runs.push(await page.evaluate(timesInPage, { ...trace, context: { ...context(), $viewId: undefined } }));
      await page.close();
    }
    print(`sdk/encode_${name}_vs_json`, median(runs.map((run) => run.encode / run.json)), 'ratio', '<= 1.5');
    print(`sdk/encode_${name}_ms`, median(runs.map((run) => run.encode)), 'ms');
    print(`sdk/encode_${name}_first_ms`, median(runs.map((run) => run.first)), 'ms');
  }
  await browser.close();
  server.close();
}

const [dir] = process.argv.slice(2);
const traces = readdirSync(dir)
  .filter((name) => /\.json(\.gz)?$/.test(name))
  .map((name) => read(dir, name));
sizes();
bytes(traces);
phoneBytes(traces);
await times(traces);
