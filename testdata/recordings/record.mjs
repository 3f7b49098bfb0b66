// Records the files of this folder anew: node testdata/recordings/record.mjs, from the
// root of the repository, after npm ci in sdk/. Node.js and Chromium are needed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const here = import.meta.dirname;
const { chromium } = createRequire(join(here, '../../sdk/package.json'))('playwright-core');
const write = (name, data) => writeFileSync(join(here, name), gzipSync(data, { level: 9 }));

// A Node.js program with a worker: each of its threads writes a file.
const program = `
const { Worker, isMainThread } = require('node:worker_threads');
function fibonacci(n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
function sortAll() { for (let i = 0; i < 40; i++) Array.from({ length: 20000 }, (_, k) => (k * 7919) % 10007).sort((a, b) => a - b); }
if (isMainThread) { new Worker(__filename); sortAll(); setTimeout(sortAll, 60); } else { fibonacci(30); }
`;
const scratch = mkdtempSync(join(tmpdir(), 'record-'));
writeFileSync(join(scratch, 'program.js'), program);
execFileSync(process.execPath, ['--cpu-prof', '--cpu-prof-dir', 'out', 'program.js'], { cwd: scratch });
for (const name of readdirSync(join(scratch, 'out'))) {
  const thread = name.split('.')[4];
  const text = readFileSync(join(scratch, 'out', name), 'utf8').replaceAll(scratch, '/srv/app');
  write(thread === '0' ? 'node-main.cpuprofile.gz' : 'node-worker.cpuprofile.gz', text);
}

// A page that forces layouts, collects garbage, measures itself, and runs the browser's own
// profiler while it is traced.
const page = `<!doctype html><title>Recorded</title><ul id="list"></ul><button id="add">Add</button><script>
function forceLayout(element) { return element.offsetHeight; }
function addItems(n) {
  const list = document.getElementById('list');
  for (let i = 0; i < n; i++) {
    const item = document.createElement('li');
    item.textContent = 'item ' + i;
    item.style.width = (i % 50) + 'px';
    list.append(item);
    if (i % 10 === 0) forceLayout(list);
  }
}
function allocate() { const all = []; for (let i = 0; i < 60000; i++) all.push({ i, text: 'x' + i }); return all.length; }
function onClick() { performance.mark('add'); addItems(200); performance.measure('add items', 'add'); Promise.resolve().then(function afterwards() { allocate(); }); }
document.getElementById('add').addEventListener('click', onClick);
async function main() {
  const profiler = new Profiler({ sampleInterval: 10, maxBufferSize: 10000 });
  for (let i = 0; i < 3; i++) { document.getElementById('add').click(); await new Promise((done) => setTimeout(done, 30)); }
  await new Promise((done) => requestAnimationFrame(() => { allocate(); done(); }));
  window.profile = JSON.stringify(await profiler.stop());
}
main();
</script>`;
const server = createServer((request, response) => {
  response.setHeader('document-policy', 'js-profiling');
  response.setHeader('content-type', 'text/html');
  response.end(page);
}).listen(8123, '127.0.0.1');
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const tab = await (await browser.newContext()).newPage();
const session = await browser.newBrowserCDPSession();
const events = [];
session.on('Tracing.dataCollected', ({ value }) => events.push(...value));
const complete = new Promise((done) => session.once('Tracing.tracingComplete', done));
await session.send('Tracing.start', {
  transferMode: 'ReportEvents',
  traceConfig: {
    includedCategories: ['-*', 'devtools.timeline', 'disabled-by-default-devtools.timeline', 'disabled-by-default-v8.cpu_profiler',
      'blink.user_timing', 'v8', 'v8.execute', 'disabled-by-default-v8.compile', 'disabled-by-default-devtools.timeline.stack'],
    excludedCategories: ['*'],
  },
});
await tab.goto('http://127.0.0.1:8123/');
await tab.waitForFunction(() => window.profile);
const profile = await tab.evaluate(() => window.profile);
await session.send('Tracing.end');
await complete;
// Only the process of the page, to keep the file small.
const pid = events.find((e) => e.name === 'ProfileChunk').pid;
const kept = events.filter((e) => e.pid === pid || e.ph === 'M');
write('chromium.trace.json.gz', JSON.stringify({ traceEvents: kept, metadata: {} }));
write('chromium.selfprofile.json.gz', profile);
await browser.close();
server.close();
