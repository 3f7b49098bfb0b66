// Pages with a single component, whose scripts are not compiled yet.

import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { launch } from '../test/daemon.ts';

const built = new Map<string, Promise<Map<string, string>>>();

async function bundle(entry: string): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    outdir: '/',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  });
  return new Map(outputFiles.map(({ path, text }) => [path.replace(/.*\./, ''), text]));
}

/**
 * Opens a page with the script and the styles of an entry point, which exports its functions in the
 * global fixture.
 */
export async function openFixture(entry: string): Promise<Page> {
  const files = built.get(entry) ?? bundle(entry);
  built.set(entry, files);
  const page = await (await launch()).newPage({ viewport: { width: 1440, height: 900 } });
  await page.setContent('<!doctype html><html lang="en"><title>bench</title><main></main>');
  await page.addStyleTag({ content: (await files).get('css')! });
  await page.addScriptTag({ content: (await files).get('js')!, type: 'module' });
  await page.waitForFunction('globalThis.fixture');
  return page;
}
