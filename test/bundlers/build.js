import { execFile } from 'node:child_process';
import { cp, link, mkdir, readdir, rm, symlink, readlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { markerName } from './truth/marker.js';

/** @import { Build } from './builds.js' */

/** The folder of this file. */
export const root = fileURLToPath(new URL('.', import.meta.url));
/** Copies of apps are built in this folder, which is not committed. */
const work = join(root, 'work');

const run = promisify(execFile);

/**
 * The folder of a build's packages.
 * @param {Build} build
 */
export const modulesOf = ({ project = '', packages = project }) => join(root, packages, 'node_modules');

/** Reports whether a copy of an app has its own node_modules. */
const hasModules = (build) => modulesOf(build) != modulesOf({});

/** Excludes installed packages. */
const filter = (path) => basename(path) != 'node_modules';

/**
 * Copies an app to the folder in which it is built.
 * @param {Build} build one of the app
 * @param {string} name of the copy
 * @param {string} [patch] turns it into another release
 * @returns {Promise<string>} the folder of the copy
 */
export async function copyApp(build, name, patch) {
  const { app, project } = build;
  const folder = join(work, name);
  await rm(folder, { recursive: true, force: true });
  await cp(join(root, app), folder, { recursive: true, filter });
  // Parcel uses a folder with this file as the root of the project
  await writeFile(join(folder, 'package-lock.json'), '{}');
  if (project) await cp(join(root, project), folder, { recursive: true, filter });
  if (hasModules(build)) await linkTree(modulesOf(build), join(folder, 'node_modules'));
  if (patch) {
    // The folder is inside a repository, which git would find.
    await run('git', ['apply', join(root, patch)], {
      cwd: folder,
      env: { ...process.env, GIT_CEILING_DIRECTORIES: work },
    });
  }
  return folder;
}

/** Copies a folder quickly, with links to its files. */
async function linkTree(from, to) {
  await mkdir(to);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await linkTree(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await link(source, target);
  }
}

/**
 * Builds an app in its folder.
 * @param {Build} build
 * @param {string} folder of the app, two below the root
 * @returns {Promise<string>} the folder of the output
 */
export async function build(build, folder) {
  const [program, ...args] = build.command;
  const dist = join(folder, build.dist ?? 'dist');
  await rm(dist, { recursive: true, force: true });
  const modules = hasModules(build) ? join(folder, 'node_modules') : modulesOf(build);
  const path = program == 'node' ? process.execPath : join(modules, '.bin', program);
  const env = {
    ...process.env,
    NODE_ENV: 'production',
    NEXT_TELEMETRY_DISABLED: '1',
    // Some builds run code of the app to render pages, which contains markers.
    NODE_OPTIONS: `--import data:text/javascript,globalThis.${markerName}=()=>{}`,
  };
  try {
    await run(path, args, { cwd: folder, env });
  } catch (error) {
    throw new Error(`build with ${build.name}: ${error.message}\n${error.stdout}`, { cause: error });
  }
  return dist;
}

/**
 * Returns the scripts in a folder of a build, relative to it.
 * @param {string} dist
 */
export async function scriptsOf(dist) {
  const paths = await readdir(dist, { recursive: true });
  return paths.filter((path) => /\.[cm]?js$/.test(path)).sort();
}
