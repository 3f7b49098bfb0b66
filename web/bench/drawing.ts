// From JSON in memory to the picture: the flame graph, speedscope and d3-flame-graph with the same
// tree, in turn.

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { launch, root } from '../test/daemon.ts';
import { randomResponse } from '../test/synthetic.ts';
import type { TreeResponse } from '../src/tree/tree.ts';
import { quantile, type Figure } from './figure.ts';
import { openFlame, show } from './flame.ts';

const viewers = join(root, 'test/viewers');
const find = createRequire(join(viewers, 'package.json')).resolve;

/** Main-thread time in ms. */
interface Work {
  script: number;
  /** Scripts, styles, layout and painting. */
  all: number;
}

/** Returns the main-thread time of a page during an action. */
async function workOf(page: Page, act: () => Promise<void>): Promise<Work> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const read = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    const of = (name: string) => 1000 * (metrics.find((metric) => metric.name == name)?.value ?? 0);
    return { script: of('ScriptDuration'), all: of('TaskDuration') };
  };
  const before = await read();
  await act();
  const after = await read();
  return { script: after.script - before.script, all: after.all - before.all };
}

/** Called for each node in preorder. */
type Visit = (node: number, level: number, name: string) => void;

function walk({ label, level, strings, frames }: TreeResponse, visit: Visit): void {
  label.forEach((frame, node) => visit(node, level[node]!, strings[frames.name[frame]!] || '(anonymous)'));
}

/** Returns the tree in speedscope's own format, with a stack for each node that has self time. */
function forSpeedscope(response: TreeResponse): string {
  const { strings, frames, label, self } = response;
  const samples: number[][] = [];
  const weights: number[] = [];
  const stack: number[] = [];
  walk(response, (node, level) => {
    stack.length = level;
    stack.push(label[node]!);
    if (!self[node]) return;
    samples.push([...stack]);
    weights.push(self[node]);
  });
  const total = weights.reduce((a, b) => a + b, 0);
  return JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json',
    shared: {
      frames: frames.name.map((name, i) => ({
        name: strings[name] || '(anonymous)',
        file: strings[frames.resource[i]!],
        line: frames.line[i],
      })),
    },
    profiles: [
      { type: 'sampled', name: 'bench', unit: 'microseconds', startValue: 0, endValue: total, samples, weights },
    ],
  });
}

/** Returns the tree as nested objects, the input of d3-flame-graph. */
function forD3(response: TreeResponse): string {
  interface Node {
    name: string;
    value: number;
    children: Node[];
  }
  const top: Node = { name: 'all', value: 0, children: [] };
  const open = [top];
  walk(response, (node, level, name) => {
    const made = { name, value: response.self[node]!, children: [] };
    open[level]!.children.push(made);
    open.length = level + 1;
    open.push(made);
  });
  return JSON.stringify(top);
}

const wide = { viewport: { width: 1440, height: 900 } };

async function ours(nodes: number): Promise<Work> {
  const page = await openFlame(nodes);
  const work = await workOf(page, () => show(page));
  await page.close();
  return work;
}

async function speedscope(file: string): Promise<Work> {
  const page = await (await launch()).newPage(wide);
  await page.goto(pathToFileURL(find('speedscope/dist/release/index.html')).href);
  await page.waitForSelector('input[type=file]', { state: 'attached' });
  const buffer = Buffer.from(file);
  const work = await workOf(page, async () => {
    await page.setInputFiles('input[type=file]', { name: 'bench.json', mimeType: 'application/json', buffer });
    await page.waitForSelector('canvas');
    await painted(page);
  });
  await page.close();
  return work;
}

/** The scripts that d3-flame-graph needs. */
const d3 = [
  'color',
  'interpolate',
  'timer',
  'dispatch',
  'ease',
  'selection',
  'transition',
  'array',
  'format',
  'time',
  'time-format',
  'scale',
  'hierarchy',
];

async function d3FlameGraph(json: string): Promise<Work> {
  const page = await (await launch()).newPage(wide);
  await page.setContent('<div id="chart"></div>');
  for (const name of d3)
    await page.addScriptTag({
      content: await readFile(join(viewers, `node_modules/d3-${name}/dist/d3-${name}.js`), 'utf8'),
    });
  await page.addScriptTag({ content: await readFile(find('d3-flame-graph'), 'utf8') });
  await page.evaluate((text) => void (globalThis.json = text), json);
  const work = await workOf(page, async () => {
    await page.evaluate(`{
      const chart = flamegraph.default().width(1400).selfValue(true).transitionDuration(0);
      d3.select('#chart').datum(JSON.parse(json)).call(chart);
    }`);
    await painted(page);
  });
  await page.close();
  return work;
}

async function painted(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise((done) =>
        requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(done)))),
      ),
  );
}

const reach: Record<number, number> = { 20_000: 150, 50_000: 300 };

/**
 * Measures drawing of trees of 20,000 and 50,000 nodes: the median of some rounds. A single round
 * draws only the smaller tree.
 */
export async function drawing(rounds: number): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [nodes, most] of Object.entries(reach)) {
    if (rounds < 2 && Number(nodes) > 20_000) break; // the other viewers take seconds
    const response = randomResponse(Number(nodes), 1);
    const [forOne, forOther] = [forSpeedscope(response), forD3(response)];
    const works: Record<string, Work[]> = { fieldtrie: [], speedscope: [], d3: [] };
    for (let round = 0; round < rounds; round++) {
      works.fieldtrie!.push(await ours(Number(nodes)));
      works.speedscope!.push(await speedscope(forOne));
      works.d3!.push(await d3FlameGraph(forOther));
    }
    const of = (who: string, what: keyof Work) =>
      quantile(
        works[who]!.map((work) => work[what]),
        0.5,
      );
    const add = (name: string, value: number, unit: string, aim = '') =>
      figures.push({ name: `web/draw_${nodes}_${name}`, value, unit, reach: aim });
    for (const who of Object.keys(works)) {
      add(`${who}_script_ms`, of(who, 'script'), 'ms', who == 'fieldtrie' ? `<= ${most}` : '');
      add(`${who}_main_thread_ms`, of(who, 'all'), 'ms');
    }
    for (const who of ['speedscope', 'd3']) add(`vs_${who}`, of(who, 'all') / of('fieldtrie', 'all'), 'x less', '> 1');
  }
  return figures;
}
