import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

// Each entry point of the package can be imported on a server, and does nothing there.

const root = new URL('..', import.meta.url);
const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const entries = Object.entries(exports).filter(([, of]) => of.default);

/** Code that runs before the import, by description. */
const globals = {
  node: '',
  deno: `globalThis.Deno = {}; globalThis.self = globalThis; globalThis.addEventListener = () => {};
    globalThis.removeEventListener = () => {};
    delete globalThis.process; delete globalThis.setImmediate;`,
  'a worker': `globalThis.self = globalThis; globalThis.addEventListener = (type) => { throw new TypeError(type) };
    globalThis.performance = { now: () => 0, timeOrigin: 0 }; globalThis.location = undefined;
      delete globalThis.navigator;`,
};

for (const [name, before] of Object.entries(globals))
  for (const [entry, { default: file }] of entries)
    test(`in ${name} "${entry}" does nothing`, async () => {
      const script = `${before}
        const { feature, keep, page, start, stop } = await import(${JSON.stringify(new URL(file, root).href)});
        start({ url: 'https://collector.example', sampleRate: 1, reportRate: 1 });
        start();
        page?.('/x');
        keep?.('x');
        const results = [feature('work', () => 7), await feature('work', async () => 8)];
        feature('span').end();
        stop();
        console.log(results.join());`;
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: fileURLToPath(root) });
      let out = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (out += text));
      const status = await new Promise((ended) => child.on('exit', ended));
      assert.deepEqual([status, out], [0, '7,8\n']);
    });
