// node make.js OUT [all | NAME…]
//
// Builds the apps with all bundlers, from sources with markers, into a folder each: scripts, maps,
// truth.json and trace.json, and same.json of a next release. README.md describes these files.

import { writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { build, copyApp, modulesOf } from './build.js';
import { builds, packages, releases } from './builds.js';
import { drives } from './drive.js';
import { traceOf } from './trace.js';
import { Numbers, markApp } from './truth/marked.js';
import { sameFunctions } from './truth/same.js';
import { strangers } from './truth/truth.js';
import { copyScripts, table, writeTruth } from './written.js';

/** @import { Build } from './builds.js' */
/** @import { Original } from './truth/marked.js' */

/**
 * Builds an app with markers, and writes all files about the build.
 * @param {Build} which
 * @param {{folder: string, originals: Map<number, Original>}} source
 * @param {string} out
 */
async function make(which, { folder, originals }, out) {
  const began = performance.now();
  const dist = await build(which, folder);
  const seconds = (performance.now() - began) / 1000;
  await copyScripts(dist, out);
  const truth = await writeTruth(dist, out, originals);
  const trace = await traceOf(which, folder, drives[which.app]);
  await writeFile(join(out, 'trace.json'), JSON.stringify(trace) + '\n');

  const rows = Object.values(truth).flat();
  const known = rows.filter((row) => row.length > 3);
  console.log(
    `${basename(out)}: ${rows.length} functions, ${known.length} with originals; ` +
      `${trace.frames.length} frames in ${trace.samples.length} samples; built in ${seconds.toFixed(1)} s`,
  );
  const [frame] = strangers(trace, truth);
  if (frame) throw new Error(`${out}: a frame is not a function: ${JSON.stringify(frame)}`);
  return { originals, truth };
}

const [out, ...names] = process.argv.slice(2);
const chosen = builds.filter(
  ({ name, large }) => names.includes(name) || names[0] == 'all' || (!names.length && !large),
);

/** Copies the app of a build and inserts markers. */
async function prepare(which, numbers, name, patch) {
  const folder = await copyApp(which, name, patch);
  return { folder, originals: await markApp(folder, packages[which.app], modulesOf(which), numbers) };
}

for (const target of new Set(chosen.map(({ app, project = app }) => project))) {
  const all = chosen.filter(({ app, project = app }) => project == target);
  const numbers = new Numbers();
  const source = await prepare(all[0], numbers, target);
  const again = all.some(({ name }) => releases.includes(name));
  const next = again && (await prepare(all[0], numbers, `${target}-next`, 'app-next.patch'));
  for (const which of all) {
    const release = await make(which, source, join(resolve(out), which.name));
    if (!next || !releases.includes(which.name)) continue;
    const nextOut = join(resolve(out), which.name.replace(which.app, `${which.app}-next`));
    const after = await make(which, next, nextOut);
    const same = sameFunctions(release, after);
    await writeFile(join(nextOut, 'same.json'), `${table(same)}\n`);
    console.log(`${basename(nextOut)}: ${same.length} functions are unchanged`);
  }
}
