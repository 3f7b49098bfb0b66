import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { open } from './browser.js';
import { expected, json, path, sum } from './outputs.js';

const require = createRequire(import.meta.url);

/** The scripts that d3-flame-graph needs, as classic scripts. */
const scripts = [
  'd3-color',
  'd3-interpolate',
  'd3-timer',
  'd3-dispatch',
  'd3-ease',
  'd3-selection',
  'd3-transition',
  'd3-array',
  'd3-format',
  'd3-time',
  'd3-time-format',
  'd3-scale',
  'd3-hierarchy',
].map((name) => fileURLToPath(new URL(`../node_modules/${name}/dist/${name}.js`, import.meta.url)));

/** Nodes of a chart, root first. */
function nodes(root) {
  const all = [root];
  for (let i = 0; i < all.length; i++) all.push(...all[i].children);
  return all;
}

/**
 * Draws a file 1000 pixels wide and returns the frames on the page.
 * @param {string} name
 * @param {boolean} [compare] whether to colour by the change
 */
async function drawn(name, compare = false) {
  const { page, problems } = await open();
  await page.setContent('<div id="chart"></div>');
  for (const script of scripts) await page.addScriptTag({ content: readFileSync(script, 'utf8') });
  await page.addScriptTag({ content: readFileSync(require.resolve('d3-flame-graph'), 'utf8') });
  const frames = await page.evaluate(
    ([data, compare]) => {
      const library = globalThis.flamegraph;
      let chart = library.default().width(1000).selfValue(true).transitionDuration(0).minFrameSize(0);
      if (compare) chart = chart.computeDelta(true).setColorMapper(library.colorMapper.differentialColorMapper);
      globalThis.d3.select('#chart').datum(JSON.parse(data)).call(chart);
      return [...document.querySelectorAll('#chart g.frame')].map((g) => {
        const d = globalThis.d3.select(g).datum();
        return {
          name: d.data.name,
          value: d.value,
          total: d.data.executionTime,
          self: d.data.value,
          delta: d.delta,
          own: d.data.delta,
          x: d.x0 * 1000,
          width: +g.querySelector('rect').getAttribute('width') || +g.getAttribute('width'),
          fill: g.querySelector('rect').getAttribute('fill'),
          depth: d.depth,
        };
      });
    },
    [readFileSync(path(name), 'utf8'), compare], // as text: the browser's protocol nests less deep
  );
  assert.deepEqual(problems, []);
  await page.context().close();
  return frames;
}

test('the self times of a merged chart add up to the total time', () => {
  const root = json('merged.d3.json');
  assert.equal(root.executionTime, expected.self);
  assert.equal(sum(nodes(root).map((node) => node.value)), expected.self);
  for (const node of nodes(root)) {
    assert.equal(node.executionTime, node.value + sum(node.children.map((child) => child.executionTime)));
  }
});

test('a merged chart has the widths of the totals', async () => {
  const frames = await drawn('merged.d3.json');
  assert.equal(frames.length, nodes(json('merged.d3.json')).length);
  for (const frame of frames) {
    assert.equal(frame.value, frame.total, frame.name);
    assert.ok(Math.abs(frame.width - (1000 * frame.total) / expected.self) < 0.01, `${frame.name}: ${frame.width}`);
  }
});

test('a comparison is coloured by the change', async () => {
  const root = json('compared.d3.json');
  assert.equal(sum(nodes(root).map((node) => node.delta)), expected.self - expected.baseSelf);
  const frames = await drawn('compared.d3.json', true);
  assert.equal(frames[0].delta, expected.self - expected.baseSelf, 'the chart sums the changes');
  // Red frames have equal green and blue, blue frames have equal green and red.
  const fill = (f) => f.fill.match(/\d+/g).map(Number);
  const more = frames.filter((f) => f.delta > 0 && f.delta !== f.value);
  const less = frames.filter((f) => f.delta < 0);
  assert.ok(more.length > 10 && less.length > 10, `${more.length} more, ${less.length} less`);
  for (const f of more) assert.equal(fill(f)[1], fill(f)[2], `${f.name}: ${f.fill}`);
  for (const f of less) assert.equal(fill(f)[0], fill(f)[1], `${f.name}: ${f.fill}`);
});

test('a chart in time order has a node for each call', async () => {
  const root = json('timed.d3.json');
  const all = nodes(root);
  const idle = root.children.filter((node) => node.name === '(idle)');
  assert.equal(all.length - 1 - idle.length, expected.timed.calls);
  assert.equal(sum(idle.map((node) => node.value)), expected.timed.span - expected.timed.self);
  assert.equal(root.executionTime, expected.timed.span);
  for (const node of all) {
    const starts = node.children.map((child) => child.start);
    assert.deepEqual(
      starts,
      [...starts].sort((a, b) => a - b),
    );
  }
  // The idle nodes put every outermost call at its time.
  const frames = await drawn('timed.d3.json');
  const outermost = frames.filter((f) => f.depth === 1).sort((a, b) => a.x - b.x);
  outermost.forEach((frame, i) => {
    const want = (1000 * root.children[i].start) / expected.timed.span;
    assert.ok(Math.abs(frame.x - want) < 0.01, `${frame.name} at ${frame.x}, want ${want}`);
  });
});
