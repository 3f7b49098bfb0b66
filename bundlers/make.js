// node make.js OUT [NAME…]
//
// Builds the apps with all bundlers, from sources with markers, into a folder each: scripts, maps, truth.json and
// trace.json. The README of the folder says what is in them.

import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build, modules, root, scriptsOf, work } from './build.js';
import { builds, packages } from './builds.js';
import { drives } from './drive.js';
import { traceOf } from './trace.js';
import { copyMarked } from './truth/marked.js';
import { truthOf } from './truth/truth.js';

const rows = (rows) => `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}]`;

/** Copies scripts and maps into one folder, and writes the truth about the scripts. */
async function writeTruth(dist, out, originals) {
  const truth = {};
  for (const path of await scriptsOf(dist)) {
    const name = basename(path);
    await copyFile(join(dist, path), join(out, name));
    for (const map of [`${path}.map`]) if (existsSync(join(dist, map))) await copyFile(join(dist, map), join(out, basename(map)));
    truth[name] = truthOf(await readFile(join(dist, path), 'utf8'), name, originals);
  }
  const scripts = Object.entries(truth).map(([name, of]) => `${JSON.stringify(name)}:${rows(of)}`);
  await writeFile(join(out, 'truth.json'), `{\n${scripts.join(',\n')}}\n`);
  return truth;
}

/** Frames of a trace that are no function of the truth. There should be none. */
function strangers(trace, truth) {
  const places = new Set();
  for (const [script, of] of Object.entries(truth)) for (const [line, column, name] of of) places.add(`${script}:${line}:${column}:${name}`);
  const script = ({ resourceId }) => basename(new URL(trace.resources[resourceId], 'https://site.example').pathname);
  return trace.frames
    .filter((frame) => frame.resourceId !== undefined && truth[script(frame)] && !(frame.line == 1 && frame.column == 1))
    .filter((frame) => !places.has(`${script(frame)}:${frame.line}:${frame.column}:${frame.name}`));
}

async function make(which, out, folder, originals) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const began = performance.now();
  const dist = await build(which, folder);
  const built = performance.now();
  const truth = await writeTruth(dist, out, originals);
  const trace = await traceOf(dist, drives[which.app]);
  await writeFile(join(out, 'trace.json'), JSON.stringify(trace) + '\n');
  const all = Object.values(truth).flat();
  const known = all.filter((row) => row.length > 3);
  console.log(
    `${which.name}: ${all.length} functions, ${known.length} with originals, ${trace.samples.length} samples, ` +
      `${trace.frames.length} frames; built in ${((built - began) / 1000).toFixed(1)} s`,
  );
  for (const { name, line, column } of strangers(trace, truth)) throw new Error(`a frame is no function: ${name} ${line}:${column}`);
}

const [out, ...names] = process.argv.slice(2);
for (const app of Object.keys(packages)) {
  const chosen = builds.filter((build) => build.app == app && (!names.length || names.includes(build.name)));
  if (!chosen.length) continue;
  const folder = join(work, `marked-${app}`);
  const originals = await copyMarked(join(root, app), packages[app], modules, folder);
  for (const build of chosen) await make(build, join(resolve(out), build.name), folder, originals);
}
