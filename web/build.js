// node build.js [--tests]
//
// Builds the dashboard into dist/, which the daemon serves: scripts and styles with a hash of their
// content in their names, the page that loads them, and the licences of dependencies; and
// profile-file.html, the document into which encode/html writes a profile. With --tests, it builds
// the tests and benchmarks into .tests/.

import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

process.chdir(dirname(fileURLToPath(import.meta.url)));

const options = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'warning',
};

/** Empties a folder except for its committed files. */
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

/** Returns the licences of the bundles' inputs. */
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
    legalComments: 'none', // licenses.txt has them
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
  // Styles of parts that are loaded later are in the first page's styles; otherwise such a part
  // could be drawn before its styles are loaded.
  for (const [file] of outputs) if (file.endsWith('.css') && file != cssBundle) await rm(file);
  await writeFile('dist/licenses.txt', await licences(Object.keys(metafile.inputs)));
}

/** Maximum size in bytes of the HTML file without its profile. */
const mostAround = 120_000;

/** Builds a self-contained document with placeholders for a title and the data of a profile. */
async function buildProfileFile() {
  const { metafile, outputFiles } = await build({
    ...options,
    entryPoints: ['src/profile-file/main.tsx'],
    outdir: 'dist',
    minify: true,
    legalComments: 'none',
    metafile: true,
    write: false,
  });
  const inlined = (ending) => outputFiles.find(({ path }) => path.endsWith(ending))?.text.trim() ?? '';
  const script = inlined('.js');
  const style = inlined('.css');
  const parts = {
    SCRIPT: script,
    STYLE: style,
    LICENCES: escaped(await licences(Object.keys(metafile.inputs))),
    POLICY: policyOf(script, style),
  };
  if (/<\/(script|style)|<!--/i.test(script + style))
    throw new Error('a script or a style has what ends or hides it in a document');
  const page = await readFile('src/profile-file/document.html', 'utf8');
  const document = page.replace(/%(SCRIPT|STYLE|LICENCES|POLICY)%/g, (_, part) => parts[part]);
  const size = Buffer.byteLength(document);
  if (size > mostAround) throw new Error(`the document around a profile has ${size} bytes, and may have ${mostAround}`);
  await writeFile('dist/profile-file.html', document);
}

/**
 * Returns the content security policy of a document with one inline script and one inline style
 * that loads nothing.
 */
function policyOf(script, style) {
  const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  return [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** Escapes a text for HTML. */
function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

if (process.argv.includes('--tests')) await buildTests();
else {
  await buildDashboard();
  await buildProfileFile();
}
