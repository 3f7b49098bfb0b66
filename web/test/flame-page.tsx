// A page with only a flame graph, for tests and benchmarks.

import { render } from 'preact';
import { FlameGraph, type FlameGraphProps } from '../src/flame/FlameGraph.tsx';
import { treeOf, type TreeResponse } from '../src/tree/tree.ts';
import { responseOf, randomResponse } from './synthetic.ts';
import '../src/flame/flame.css';
import '../src/flame/treegrid.css';

const told: string[] = [];
const tell = (what: string) => (value: unknown) =>
  void told.push(`${what} ${typeof value == 'string' ? value : JSON.stringify(value)}`);

/** Draws a response; resolves when it is painted. */
async function show(response: TreeResponse, props: Partial<FlameGraphProps> = {}): Promise<void> {
  render(null, document.querySelector('main')!);
  await painted();
  render(
    <FlameGraph
      tree={treeOf(response)}
      label="a test"
      onOpenOther={tell('open')}
      onZoom={tell('zoom')}
      onSandwich={(frame) => told.push(`sandwich ${frame.name}`)}
      {...props}
    />,
    document.querySelector('main')!,
  );
  await painted();
  await painted();
}

const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

Object.assign(globalThis, { fixture: { show, told, responseOf, randomResponse } });
