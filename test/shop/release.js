// The releases of the shop and their builds.

import { createHash } from 'node:crypto';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Resolves packages of the dashboard, for tests and builds. */
export const require = createRequire(new URL('../../web/package.json', import.meta.url));

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/**
 * The releases, oldest first. Each has the files of the previous release, replaced by the files in
 * its own folder.
 */
export const releases = ['2.3.0', '2.4.0', '2.5.0'];

/** Builds a release: one script, minified, with its source map. */
export async function build(release) {
  const folder = await mkdtemp(join(tmpdir(), 'shop-'));
  try {
    await cp(here('src'), join(folder, 'src'), { recursive: true });
    for (const one of releases.slice(1, releases.indexOf(release) + 1))
      await cp(here(`releases/${one}`), folder, { recursive: true });
    const { outputFiles } = await require('esbuild').build({
      absWorkingDir: folder,
      entryPoints: ['src/main.tsx'],
      outfile: 'dist/shop.js',
      bundle: true,
      minify: true,
      write: false,
      sourcemap: 'external',
      target: 'es2022',
      format: 'iife',
      jsx: 'automatic',
      jsxImportSource: 'preact',
      nodePaths: [here('../../web/node_modules')],
      logLevel: 'warning',
    });
    const [map, script] = outputFiles.map(({ text }) => text);
    const hash = createHash('sha256').update(script).digest('hex').slice(0, 8);
    return { path: `assets/shop.${hash}.js`, script, map };
  } finally {
    await rm(folder, { recursive: true });
  }
}
