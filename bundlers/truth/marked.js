import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, extname, join, relative } from 'node:path';
import { functions } from './functions.js';
import { mark, markerOf } from './marker.js';

/**
 * What a marker stands for: a function of the sources with markers.
 * @typedef {object} Original
 * @property {string} file from the folder of the app
 * @property {number} line
 * @property {number} column
 * @property {string} name with that of `a.b = function`
 * @property {string} class
 * @property {string} kind
 * @property {string} text of the function before it got markers
 */

const scripts = new Set(['.js', '.mjs', '.cjs', '.ts', '.tsx', '.vue']);
/** What bundlers do not take for browsers, or what would say another place than that in these files. */
const unused = /\.d\.[mc]?ts$|\.map$|\.min\.js$|\.development\.|\.profiling\.|\.flow$|\/(umd|docs|tests?|__tests__)\/|\.md$/;

/**
 * Copies an app and the packages that get into its bundles, with a marker in each function.
 * @param {string} app
 * @param {string[]} packages
 * @param {string} modules node_modules with them
 * @param {string} folder of the copy
 * @returns {Promise<Map<number, Original>>} by the numbers of the markers
 */
export async function copyMarked(app, packages, modules, folder) {
  await rm(folder, { recursive: true, force: true });
  await cp(app, folder, { recursive: true });
  for (const name of await withDependencies(packages, modules)) await copyPackage(join(modules, name), join(folder, 'node_modules', name));

  /** @type {Map<number, Original>} */
  const originals = new Map();
  for (const path of await readdir(folder, { recursive: true })) {
    if (!scripts.has(extname(path))) continue;
    const file = path.replaceAll('\\', '/');
    const first = originals.size + 1;
    const { marked, texts } = mark(await readFile(join(folder, path), 'utf8'), file, first);
    await writeFile(join(folder, path), marked);
    for (const { node, line, column, name, property, class: owner, kind } of functions(marked, file)) {
      if (!node) continue;
      const marker = markerOf(node);
      if (!texts[marker - first]) throw new Error(`${file}:${line}:${column}: ${name} has no marker`);
      originals.set(marker, { file, line, column, name: name || property, class: owner, kind, text: texts[marker - first] });
    }
  }
  return originals;
}

/** The names of packages, and of those that they need. */
async function withDependencies(packages, modules) {
  const all = new Set(packages);
  for (const name of all) {
    const { dependencies = {} } = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8'));
    for (const dependency of Object.keys(dependencies)) all.add(dependency);
  }
  return all;
}

async function copyPackage(from, to) {
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { recursive: true, filter: (path) => !unused.test('/' + relative(from, path)) });
}
