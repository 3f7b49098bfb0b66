// node bench/time.js [CALLS…]
//
// Measures the picture of a page view in the order of time in Chromium, with calls made at random: the time of scripts from JSON
// in memory until all is to be drawn, and that of each frame while it is zoomed and moved. Prints JSON.

import { build } from 'esbuild';
import { chromium } from 'playwright-core';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = join(dirname(fileURLToPath(import.meta.url)), '..');
const sizes = process.argv.slice(2).map(Number);

const { outputFiles } = await build({
  entryPoints: [join(web, 'test/time-page.tsx')],
  bundle: true,
  minify: true,
  write: false,
  outdir: '/',
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
});
const text = (ending) => outputFiles.find(({ path }) => path.endsWith(ending)).text;

/** Runs in the page: shows calls, then zooms and moves, and returns the ms of scripts of each frame. */
async function walk(calls) {
  const json = JSON.stringify(fixture.randomCalls(calls, 1));
  let script = 0;
  const request = window.requestAnimationFrame;
  const timed = (run) => (...args) => {
    const start = performance.now();
    run(...args);
    script += performance.now() - start;
  };
  window.requestAnimationFrame = (run) => request(timed(run));
  const frame = () => new Promise((done) => request(() => setTimeout(done)));
  const first = fixture.show(json);
  await frame();
  await frame();
  const draw = first + script;
  const canvas = document.querySelector('.flame-canvas');
  const frames = [];
  for (let i = 0; i < 120; i++) {
    script = 0;
    const start = performance.now();
    const options = i < 60 ? { ctrlKey: true, deltaY: i < 30 ? -20 : 20 } : { shiftKey: true, deltaX: i < 90 ? 40 : -40 };
    canvas.dispatchEvent(new WheelEvent('wheel', { bubbles: true, cancelable: true, clientX: 700, clientY: 500, ...options }));
    await Promise.resolve().then(() => {}); // what is drawn again is so in microtasks
    script += performance.now() - start;
    await frame();
    frames.push(script);
  }
  frames.sort((a, b) => a - b);
  return { calls, draw_script_ms: draw, frame_p50_ms: frames[60], frame_p95_ms: frames[114], frame_max_ms: frames[119] };
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
try {
  const results = [];
  for (const calls of sizes.length ? sizes : [20_000, 50_000]) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.on('pageerror', (error) => console.error(String(error)));
    await page.setContent('<!doctype html><html lang="en"><title>bench</title><main></main>');
    await page.addStyleTag({ content: text('.css') });
    await page.addScriptTag({ content: text('.js'), type: 'module' });
    await page.waitForFunction(() => globalThis.fixture);
    const measured = await page.evaluate(walk, calls);
    results.push(Object.fromEntries(Object.entries(measured).map(([key, value]) => [key, Math.round(value * 10) / 10])));
    await page.close();
  }
  console.log(JSON.stringify(results, null, 2));
} finally {
  await browser.close();
}
