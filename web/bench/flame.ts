// A page with nothing but a flame graph, and trees for it.

import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { launch } from '../test/daemon.ts';

/** What the page has in its global scope. */
interface Fixture {
  show(answer: unknown): Promise<number>;
  randomAnswer(nodes: number, seed: number): unknown;
}

declare const fixture: Fixture;
declare global {
  var json: string;
}

let built: Promise<Map<string, string>> | undefined;

async function bundle(): Promise<Map<string, string>> {
  const { outputFiles } = await build({
    entryPoints: ['test/flame-page.tsx'],
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

/** Opens a page whose scripts are cold, with a tree of so many nodes as JSON in its memory. */
export async function openFlame(nodes: number): Promise<Page> {
  const files = await (built ??= bundle());
  const page = await (await launch()).newPage({ viewport: { width: 1440, height: 900 } });
  await page.setContent('<!doctype html><html lang="en"><title>bench</title><main></main>');
  await page.addStyleTag({ content: files.get('css')! });
  await page.addScriptTag({ content: files.get('js')!, type: 'module' });
  await page.waitForFunction('globalThis.fixture');
  await page.evaluate((n) => void (globalThis.json = JSON.stringify(fixture.randomAnswer(n, 1))), nodes);
  return page;
}

/** Draws the tree. */
export async function show(page: Page): Promise<void> {
  await page.evaluate(async () => void (await fixture.show(JSON.parse(globalThis.json))));
}
