import { existsSync } from 'node:fs';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { scriptsOf } from './build.js';
import { truthOf } from './truth/truth.js';

export const table = (rows) => `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}]`;

/** Copies scripts and their maps into one folder. A map is named after its script, because Turbopack uses another name. */
export async function copyScripts(dist, out) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  for (const path of await scriptsOf(dist)) {
    const script = join(dist, path);
    const url = /^\/\/# sourceMappingURL=(.+)$/m.exec(await readFile(script, 'utf8'));
    const map = url ? join(dirname(script), url[1]) : `${script}.map`;
    await copyFile(script, join(out, basename(path)));
    if (existsSync(map)) await copyFile(map, join(out, `${basename(path)}.map`));
  }
}

/** Writes the truth about the scripts, by their names. */
export async function writeTruth(dist, out, originals) {
  const truth = {};
  for (const path of await scriptsOf(dist)) {
    truth[basename(path)] = truthOf(await readFile(join(dist, path), 'utf8'), path, originals);
  }
  const scripts = Object.entries(truth).map(([name, rows]) => `${JSON.stringify(name)}:${table(rows)}`);
  await writeFile(join(out, 'truth.json'), `{\n${scripts.join(',\n')}}\n`);
  return truth;
}
