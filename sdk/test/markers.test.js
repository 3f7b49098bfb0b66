import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';
import { launch } from '../../test/chromium/launch.mjs';
import { stop } from './browser.js';
import { check } from './check.js';
import { until } from './daemon.js';
import { header } from './site.js';

// With the browser's markers, from its origin trial, the time of style and layout belongs to the
// function that forced it.

const isolated = {
  ...header,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'credentialless',
};

const app = () => {
  const list = document.querySelector('ul');
  for (let i = 0; i < 3000; i++)
    list.append(Object.assign(document.createElement('li'), { textContent: 'word '.repeat(30) }));
  globalThis.thrash = function thrash() {
    for (const end = performance.now() + 600; performance.now() < end;) {
      list.style.width = 300 + (performance.now() % 300) + 'px';
      list.getBoundingClientRect(); // which forces layout
    }
  };
};

for (const [name, on, headers] of /** @type {[string, boolean, Record<string, string>][]} */ ([
  ['with the trial', true, header],
  ['with the trial, isolated', true, isolated],
  ['without it', false, header],
]))
  check(`forced layout: ${name}`, async ({ daemon, site }) => {
    site.script('/app.js', app);
    const url = site.page('/layout', { headers, scripts: ['/app.js'], body: '<ul></ul>' });
    const browser = await launch(chromium, {
      args: on ? ['--enable-blink-features=ExperimentalJSProfilerMarkers'] : [],
    });
    try {
      const page = await browser.newPage();
      await page.goto(url);
      assert.equal(await page.evaluate(() => crossOriginIsolated), headers == isolated);
      await page.evaluate(() => new Promise((done) => setTimeout(() => done(globalThis.thrash()))));
      await stop(page);
      await until('a trace', async () => (await daemon.traces()) > 0);
    } finally {
      await browser.close();
    }
    const lines = (await daemon.aggregate('--page', '/layout', '--format', 'folded')).split('\n');
    const ms = lines
      .filter((line) => /thrash[^;]*;\(layout\)/.test(line))
      .reduce((sum, line) => sum + Number(line.split(' ').at(-1)) / 1000, 0);
    if (on) {
      assert.ok(ms > 300, `layout in thrash takes ${ms} ms:\n${lines.join('\n')}`);
      const tree = await daemon.aggregate('--page', '/layout', '--callers', '(layout)', '--format', 'tree');
      assert.match(tree, /[(]layout[)][^]*thrash/);
    } else assert.equal(ms, 0);
    const metrics = await (await fetch(`http://${daemon.address}/metrics`)).text();
    assert.equal(/^fieldtrie_ingest_marked_traces_total [1-9]/m.test(metrics), on);
  });
