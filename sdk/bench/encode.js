// Measures the encoder beside JSON.stringify in Chromium: node bench/encode.js DIR
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { chromium } from 'playwright-core';

const dir = process.argv[2];
const read = (name) => {
  const data = readFileSync(join(dir, name));
  return JSON.parse(String(name.endsWith('.gz') ? gunzipSync(data) : data)).trace;
};
const traces = readdirSync(dir).filter((name) => /\.json(\.gz)?$/.test(name)).map(read)
  .sort((a, b) => JSON.stringify(a).length - JSON.stringify(b).length);

const server = createServer((request, response) => {
  const file = request.url.slice(1);
  response.setHeader('Cross-Origin-Opener-Policy', 'same-origin');
  response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp'); // for a finer clock
  if (!file.endsWith('.js')) return response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>bench</title>');
  response.setHeader('Content-Type', 'text/javascript').end(readFileSync(new URL(`../src/${file}`, import.meta.url)));
}).listen(0);
await new Promise((done) => server.once('listening', done));

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
async function measure(trace) {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const result = await page.evaluate(async (trace) => {
    const { encodeTrace } = await import('/encodeTrace.js');
    const context = { page: '/feed', viewId: new Uint8Array(16), chunk: 0, timeOrigin: performance.timeOrigin, interval: 10, share: 0.1, labels: {}, spans: [] };
    const time = (work) => { const from = performance.now(); work(); return performance.now() - from; };
    const json = () => JSON.stringify(trace).length, ours = () => encodeTrace(trace, context).length;
    const cold = [time(ours), time(json)];
    const rounds = { json: [], ours: [] };
    for (let i = 0; i < 300; i++) { rounds.json.push(time(json)); rounds.ours.push(time(ours)); }
    const median = (values) => values.slice(100).sort((a, b) => a - b)[100];
    return { cold, json: median(rounds.json), ours: median(rounds.ours), bytes: ours() };
  }, trace);
  await page.close();
  return result;
}
for (const [name, trace] of [['median', traces[traces.length >> 1]], ['largest', traces.at(-1)]]) {
  const runs = [];
  for (let i = 0; i < 5; i++) runs.push(await measure(trace));
  const mid = (pick) => runs.map(pick).sort((a, b) => a - b)[2];
  console.log(name, 'warm', mid((r) => r.ours), 'json', mid((r) => r.json), 'ratio', mid((r) => r.ours / r.json), 'cold', mid((r) => r.cold[0]), 'json cold', mid((r) => r.cold[1]), 'ratio', mid((r) => r.cold[0] / r.cold[1]));
}
await browser.close();
server.close();
