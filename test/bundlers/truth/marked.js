import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { functions } from './functions.js';
import { mark, markerName, markerOf } from './marker.js';

/**
 * The function that a marker identifies, in the sources with markers.
 * @typedef {object} Original
 * @property {string} file relative to the folder of the app
 * @property {number} line
 * @property {number} column
 * @property {string} name including names from `a.b = function`
 * @property {string} class
 * @property {string} kind
 * @property {string} text of the function before markers were inserted
 */

const scripts = new Set(['.js', '.mjs', '.cjs', '.ts', '.tsx', '.vue']);
/**
 * Files of packages that bundlers do not use, and maps, which would not match the files with
 * markers.
 */
const unused =
  /\.d\.[mc]?ts$|\.map$|\.min\.js$|\.development\.|\.profiling\.|\.flow$|\/(umd|docs|tests?|__tests__)\/|\.md$/;

/**
 * Numbers of markers. Functions that are unchanged in the next release have the same numbers,
 * because their texts must be equal with markers, too.
 */
export class Numbers {
  /** @type {Map<string, number>} by file, ordinal among equal texts, and text */
  #numbers = new Map();

  /**
   * Returns the numbering of one file, whose functions are numbered in their order.
   * @param {string} file
   */
  of(file) {
    const seen = new Map();
    return (/** @type {string} */ text) => {
      const ordinal = seen.get(text) ?? 0;
      seen.set(text, ordinal + 1);
      const key = `${file} ${ordinal} ${text}`;
      const number = this.#numbers.get(key) ?? this.#numbers.size + 1;
      this.#numbers.set(key, number);
      return number;
    };
  }
}

/**
 * Inserts markers into a copy of an app, and into packages of its node_modules.
 * @param {string} folder of the app
 * @param {string[]} packages
 * @param {string} modules node_modules for packages that the app does not have
 * @param {Numbers} numbers
 * @returns {Promise<Map<number, Original>>} by the numbers of the markers
 */
export async function markApp(folder, packages, modules, numbers) {
  for (const name of packages) await copyPackage(join(modules, name), join(folder, 'node_modules', name));

  /** @type {Map<number, Original>} */
  const originals = new Map();
  for (const file of await sourcesOf(folder, packages)) {
    const path = join(folder, file);
    const { marked, texts } = mark(await readFile(path, 'utf8'), file, numbers.of(file));
    await rm(path); // it may be a link
    await writeFile(path, marked);
    for (const { node, line, column, name, property, class: owner, kind } of functions(marked, file)) {
      if (!node) continue;
      const marker = markerOf(node);
      const text = texts.get(marker);
      if (text === undefined) throw new Error(`${file}:${line}:${column}: ${name} has no marker`);
      originals.set(marker, { file, line, column, name: name || property, class: owner, kind, text });
    }
  }
  await writeFile(join(folder, 'src/markers.d.ts'), `declare function ${markerName}(number: number): void;\n`);
  return originals;
}

async function copyPackage(from, to) {
  if (existsSync(to)) return;
  await mkdir(dirname(to), { recursive: true });
  await cp(from, to, { recursive: true, filter: (path) => !unused.test('/' + relative(from, path)) });
}

/** Returns the files that get markers, relative to the folder. */
async function sourcesOf(folder, packages) {
  const files = [];
  for (const part of ['src', 'pages', ...packages.map((name) => `node_modules/${name}`)]) {
    if (!existsSync(join(folder, part))) continue;
    for (const path of await readdir(join(folder, part), { recursive: true })) {
      const file = `${part}/${path.replaceAll('\\', '/')}`;
      if (scripts.has(extname(file)) && !unused.test(file)) files.push(file);
    }
  }
  return files;
}
