// The importer of speedscope, from its published script. This is a single function for browsers,
// whose last statement opens the page. Here, another statement replaces it and exports the function
// by which the page reads a dropped file. Nothing is drawn.
import { readFileSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { measure } from './measure.js';

const release = join(dirname(createRequire(import.meta.url).resolve('speedscope/package.json')), 'dist', 'release');
const name = readdirSync(release).find((file) => /^speedscope-\w+\.js$/.test(file));
const script = String(readFileSync(join(release, name)));
const importer = /async function ([\w$]+)\(\w+,\w+\)\{return\(await [\w$]+\)\.importProfilesFromArrayBuffer\(/.exec(
  script,
)?.[1];
const opens = script.lastIndexOf('console.log(`speedscope v');
if (!importer || opens < 0) throw new Error(`${name} has changed`);

// Objects that the script uses before it opens the page.
const element = () => ({
  style: {},
  setAttribute() {},
  appendChild() {},
  addEventListener() {},
  getContext: () => null,
});
Object.assign(globalThis, {
  window: globalThis,
  location: { hash: '', protocol: 'http:' },
  addEventListener() {},
  matchMedia: () => ({ matches: false, addEventListener() {}, addListener() {} }),
  document: { ...element(), createElement: element, head: element(), body: element(), querySelector: () => null },
  localStorage: { getItem: () => null, setItem() {} },
  requestAnimationFrame() {},
});
runInThisContext(`${script.slice(0, opens)}globalThis.importProfiles=${importer}})();`, { filename: name });

console.log = console.warn = () => {}; // it logs the detected format
await measure(async (data, file) => {
  // Traces are recognized by the name that DevTools gives them.
  const called = file.endsWith('.cpuprofile') ? file : 'Trace-20261121T120000.json';
  const group = await globalThis.importProfiles(
    called,
    data.buffer.slice(data.byteOffset, data.byteOffset + data.length),
  );
  return group?.profiles.reduce((sum, profile) => sum + profile.getTotalNonIdleWeight(), 0);
});
