// node build.js: builds the scripts in dist from src, and prints their sizes.
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { minify } from 'terser';

/**
 * The scripts, with parts before their loaders. Entries with a constant are parts; later scripts
 * contain their integrity under this constant. The collector serves the names that begin with sdk;
 * the package has the other names, with maps.
 * @type {{file: string, entry: string, constant?: string, external?: string[]}[]}
 */
const outputs = [
  { file: 'sdk-stackless.mjs', entry: 'stackless.js', constant: 'STACKLESS' },
  { file: 'sdk-recorder.mjs', entry: 'recorder.js', constant: 'RECORDER' },
  { file: 'sdk-rest.mjs', entry: 'served/rest.js', constant: 'REST' },
  { file: 'sdk.mjs', entry: 'served/module.js' },
  { file: 'sdk.js', entry: 'served/script.js' },
  { file: 'sdk-all.mjs', entry: 'index.js' },
  { file: 'sdk-all.js', entry: 'served/all.js' },
  { file: 'sdk-core.mjs', entry: 'core.js' },
  { file: 'sdk-core.js', entry: 'served/core.js' },
  { file: 'all.mjs', entry: 'index.js' },
  { file: 'core.mjs', entry: 'core.js' },
  { file: 'loader.mjs', entry: 'small.js', external: ['./rest.mjs'] },
  { file: 'rest.mjs', entry: 'rest.js' },
];

/**
 * Internal properties, which neither browsers nor users of the SDK access, so they get shorter
 * names, the same in all scripts. They begin with $, unlike all names of the platform.
 */
const internal = /^\$[a-z]/;

const folder = fileURLToPath(new URL('.', import.meta.url));
// Brotli encodings for the collector, by hash of their content, so that the encoding of another
// build is never served.
rmSync(`${folder}brotli`, { recursive: true, force: true });
mkdirSync(`${folder}brotli`);
/** @type {Record<string, string | false>} */
let names = {};
/** @type {Record<string, string>} */
const parts = {};
for (const { file, entry, constant, external } of outputs) {
  const served = file.startsWith('sdk');
  const bundle = await build({
    absWorkingDir: folder,
    entryPoints: [`src/${entry}`],
    bundle: true,
    write: false,
    target: 'es2022',
    format: file.endsWith('.mjs') ? 'esm' : 'iife',
    minify: true,
    mangleProps: internal,
    mangleCache: names,
    define: file.endsWith('.js') ? { ...parts, globalThis: 'self' } : parts, // modules are imported on servers, too
    external,
    sourcemap: served ? false : 'external',
    outfile: `dist/${file}`, // sources are relative to it
    tsconfigRaw: {}, // the folder's options would add "use strict"
    logLevel: 'warning',
  });
  names = bundle.mangleCache ?? names;
  const foreign = Object.keys(names).filter((name) => !internal.test(name));
  if (foreign.length) throw new Error(`names without a mark of our own would be shortened: ${foreign}`);
  const [script, map = script] = bundle.outputFiles.toReversed();
  const { code = '', map: sources } = await minify(script.text, {
    sourceMap: served ? false : { content: map.text, url: `${file}.map` },
    module: true, // top-level names are not global
    ecma: 2020,
    compress: { passes: 2, hoist_funs: true, unsafe_arrows: true },
    // Most of the loader runs immediately. So Chromium should compile it while loading, not
    // function by function in the main thread.
    format: { preamble: file == 'sdk.js' ? '//# allFunctionsCalledOnLoad' : '' },
  });
  if (constant) parts[constant] = JSON.stringify('sha256-' + createHash('sha256').update(code).digest('base64'));
  writeFileSync(`${folder}dist/${file}`, code);
  if (!served) writeFileSync(`${folder}dist/${file}.map`, String(sources));
  const brotli = brotliCompressSync(code);
  const hash = createHash('sha256').update(code).digest('hex').slice(0, 12);
  if (served) writeFileSync(`${folder}brotli/${hash}.br`, brotli);
  const sizes = [code.length, gzipSync(code, { level: 9 }).length, brotli.length];
  console.log(file.padEnd(20), ...sizes.map((size) => String(size).padStart(7)));
}
