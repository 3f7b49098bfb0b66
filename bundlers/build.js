import { execFile } from 'node:child_process';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** @import { Build } from './builds.js' */

/** The folder of all this. */
export const root = fileURLToPath(new URL('.', import.meta.url));
export const modules = join(root, 'node_modules');
/** Copies of apps are built below it; it is not committed. */
export const work = join(root, 'work');

const run = promisify(execFile);

/**
 * Builds an app in its folder.
 * @param {Build} build
 * @param {string} folder of the app, two below the root
 * @returns {Promise<string>} the folder with what was built
 */
export async function build({ name, command: [program, ...args] }, folder) {
  const dist = join(folder, 'dist');
  await rm(dist, { recursive: true, force: true });
  const path = program == 'node' ? process.execPath : join(modules, '.bin', program);
  try {
    await run(path, args, { cwd: folder, env: { ...process.env, NODE_ENV: 'production', CI: 'true' } });
  } catch (error) {
    throw new Error(`build with ${name}: ${error.message}\n${error.stdout}`, { cause: error });
  }
  return dist;
}

/**
 * Scripts in a folder of a build, from there.
 * @param {string} dist
 */
export async function scriptsOf(dist) {
  const paths = await readdir(dist, { recursive: true });
  return paths.filter((path) => /\.[cm]?js$/.test(path)).sort();
}
