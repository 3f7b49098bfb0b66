// node build.js [--tests]
//
// Builds the dashboard into dist/, from where the daemon has it: scripts and styles whose names have a hash of what is in
// them, the page that loads them, and the licences of what others wrote. With --tests it builds the tests, and what measures,
// into .tests/.

import { build } from 'esbuild';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(fileURLToPath(import.meta.url)));

const options = { bundle: true, format: 'esm', target: 'es2022', jsx: 'automatic', jsxImportSource: 'preact', logLevel: 'warning' };

/** Empties a folder but for what is committed of it. */
async function empty(folder) {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (name != '.gitkeep') await rm(join(folder, name), { recursive: true });
}

async function buildTests() {
  const tests = (await readdir('test')).filter((name) => /\.test\.tsx?$/.test(name));
  await rm('.tests', { recursive: true, force: true });
  await build({
    ...options,
    entryPoints: [...tests.map((name) => join('test', name)), 'bench/figures.ts'],
    outdir: '.tests',
    entryNames: '[name]',
    platform: 'node',
    packages: 'external',
    sourcemap: 'inline',
  });
}

/** Returns the licences of what is in the bundles. */
async function licences(inputs) {
  const packages = new Set();
  for (const file of inputs) {
    const name = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1];
    if (name) packages.add(name);
  }
  const texts = [...packages].sort().map(async (name) => {
    const folder = join('node_modules', name);
    const { version } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
    const file = (await readdir(folder)).find((entry) => /^licen[sc]e/i.test(entry));
    if (!file) throw new Error(`${name} has no file with its licence`);
    return `${name} ${version}\n\n${(await readFile(join(folder, file), 'utf8')).trim()}\n`;
  });
  return (await Promise.all(texts)).join('\n----\n\n');
}

async function buildDashboard() {
  await empty('dist');
  const { metafile } = await build({
    ...options,
    entryPoints: ['src/main.tsx'],
    outdir: 'dist/assets',
    entryNames: '[name].[hash]',
    chunkNames: '[name].[hash]',
    splitting: true,
    minify: true,
    legalComments: 'none', // they are in licenses.txt
    metafile: true,
  });
  const outputs = Object.entries(metafile.outputs);
  const main = outputs.find(([, { entryPoint }]) => entryPoint == 'src/main.tsx');
  if (!main) throw new Error('esbuild wrote no main script');
  const [script, { cssBundle }] = main;
  const page = (await readFile('src/index.html', 'utf8'))
    .replace('%SCRIPT%', basename(script))
    .replace('%STYLE%', basename(cssBundle ?? ''));
  await writeFile('dist/index.html', page);
  await writeFile('dist/licenses.txt', await licences(Object.keys(metafile.inputs)));
}

await (process.argv.includes('--tests') ? buildTests() : buildDashboard());
