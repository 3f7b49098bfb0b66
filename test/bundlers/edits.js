// node edits.js OUT [SEEDS [NAME…]]
//
// Builds the apps, and builds them again after random edits of their sources. It writes a folder
// for each build: NAME, and NAME-edit1 with the effects on each function in edits.json. README.md
// describes these files.

import { cp, mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { build, copyApp, modulesOf } from './build.js';
import { builds, packages } from './builds.js';
import { copyScripts, writeTruth } from './written.js';
import { edited } from './truth/editor.js';
import { editsOf, textsOf } from './truth/edits.js';
import { functions } from './truth/functions.js';
import { Numbers, markApp } from './truth/marked.js';
import { markerOf } from './truth/marker.js';

/** Number of edits of a build. */
const count = 20;

async function sourcesOf(folder) {
  const sources = new Map();
  for (const path of await readdir(join(folder, 'src'), { recursive: true })) {
    if (/\.(tsx?|vue|js)$/.test(path) && !path.endsWith('.d.ts'))
      sources.set(`src/${path}`, await readFile(join(folder, 'src', path), 'utf8'));
  }
  return sources;
}

const textsIn = (sources) => new Map([...sources].flatMap(([file, text]) => [...textsOf(text, file)]));

/** The originals of the functions in sources, by marker. */
function originalsOf(sources) {
  const found = new Map();
  for (const [file, text] of sources) {
    for (const { node, line, column, name, property, class: owner, kind } of functions(text, file)) {
      if (node) found.set(markerOf(node), { file, line, column, name: name || property, class: owner, kind });
    }
  }
  return found;
}

async function write(which, folder, out, originals) {
  const dist = await build(which, folder);
  await copyScripts(dist, out);
  await writeTruth(dist, out, originals);
}

const [out, seeds = '3', ...names] = process.argv.slice(2);
const chosen = builds.filter(({ name, large }) => !large && (names.includes(name) || !names.length));

for (const app of new Set(chosen.map(({ app }) => app))) {
  const all = chosen.filter((which) => which.app == app);
  const folder = await copyApp(all[0], app);
  const packaged = await markApp(folder, packages[app], modulesOf(all[0]), new Numbers());
  const sources = await sourcesOf(folder);
  const before = textsIn(sources);
  for (const which of all) await write(which, folder, join(resolve(out), which.name), packaged);
  for (let seed = 1; seed <= Number(seeds); seed++) {
    const { sources: changed, done } = edited(sources, seed, count);
    const next = join(dirname(folder), `${basename(folder)}-edit${seed}`);
    await rm(next, { recursive: true, force: true });
    await cp(folder, next, { recursive: true, filter: (path) => path != join(folder, 'dist') });
    for (const [file, text] of changed) {
      await mkdir(dirname(join(next, file)), { recursive: true });
      await writeFile(join(next, file), text);
    }
    const originals = new Map([...packaged].filter(([, { file }]) => !file.startsWith('src/')));
    for (const [number, original] of originalsOf(changed)) originals.set(number, original);
    const rows = editsOf(before, textsIn(changed));
    console.log(`${app}-edit${seed}: ${done.join('; ')}`);
    const kinds = [...new Set(rows.map(([kind]) => kind))];
    console.log(`  ${kinds.map((kind) => `${rows.filter((row) => row[0] == kind).length} ${kind}`).join(', ')}`);
    for (const which of all) {
      const to = join(resolve(out), `${which.name}-edit${seed}`);
      try {
        await write(which, next, to, originals);
      } catch (error) {
        console.log(`  ${which.name}: ${error.message.slice(0, 600)}`);
        process.exitCode = 1;
        continue;
      }
      await writeFile(join(to, 'edits.json'), `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}]\n`);
    }
  }
}
