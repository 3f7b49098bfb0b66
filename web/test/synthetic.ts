// Trees for tests: from given stacks, or random.

import type { Calls } from '../src/timeline/timeline.ts';
import type { TreeResponse } from '../src/tree/tree.ts';

/**
 * Returns the response with some stacks: the time of 'a b c' in µs, or a pair with the times of
 * both sides.
 */
export function responseOf(stacks: Record<string, number | [number, number]>, views = 1, baseViews = 1): TreeResponse {
  const names = [...new Set(Object.keys(stacks).flatMap((stack) => stack.split(' ')))];
  interface Node {
    callees: Map<string, Node>;
    self: number;
    base: number;
  }
  const made = (): Node => ({ callees: new Map(), self: 0, base: 0 });
  const root = made();
  let both = false;
  for (const [stack, time] of Object.entries(stacks)) {
    let at = root;
    for (const name of stack.split(' ')) {
      if (!at.callees.has(name)) at.callees.set(name, made());
      at = at.callees.get(name)!;
    }
    both ||= Array.isArray(time);
    const [self, base] = Array.isArray(time) ? time : [time, 0];
    at.self += self;
    at.base += base;
  }
  const response = emptyResponse(
    names.map((name) => ({ name, resource: name.startsWith('(') ? '' : `src/${name}.ts` })),
    views,
  );
  const base: number[] = [];
  const write = (node: Node, level: number) => {
    for (const [name, callee] of node.callees) {
      response.label.push(names.indexOf(name));
      response.level.push(level);
      response.self.push(callee.self);
      base.push(callee.base);
      write(callee, level + 1);
    }
  };
  write(root, 0);
  if (both) response.base = sideOf(base, baseViews);
  response.total_us = response.self.reduce((a, b) => a + b, 0);
  return response;
}

const stats = { traces: 1, bytes: 1, partitions: 1 };

const sideOf = (self: number[], views: number) => ({
  views,
  traces: views,
  total_us: self.reduce((a, b) => a + b, 0),
  self,
  stats,
});

function emptyResponse(frames: { name: string; resource: string }[], views: number): TreeResponse {
  return {
    unit: 'us',
    views,
    traces: views,
    total_us: 0,
    strings: frames.flatMap(({ name, resource }) => [name, resource]),
    frames: {
      name: frames.map((_, i) => 2 * i),
      resource: frames.map((_, i) => 2 * i + 1),
      line: frames.map(({ resource }, i) => (resource ? i + 1 : 0)),
      column: frames.map(({ resource }) => (resource ? 7 : 0)),
    },
    label: [],
    level: [],
    self: [],
    pruned: { nodes: 0, self_us: 0 },
    stats,
  };
}

/** Returns a generator of numbers from 0 to 1 that is the same for the same seed: mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const folders = [
  'src/pages',
  'src/data',
  'src/grid',
  'node_modules/react-dom/cjs',
  'node_modules/@tanstack/table/src',
  'https://cdn.example.com',
];
const words = [
  'render',
  'update',
  'commit',
  'parse',
  'sort',
  'merge',
  'layout',
  'query',
  'format',
  'total',
  'Row',
  'Cell',
  'Grid',
  'use',
];

/**
 * Returns a random response with this many nodes, distributed as in applications: few heavy stacks,
 * many light ones.
 */
export function randomResponse(
  nodes: number,
  seed: number,
  { base = false, names = 1200, views = 1000, deepest = 60 } = {},
): TreeResponse {
  const random = randomOf(seed);
  const pick = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)]!;
  const frames = Array.from({ length: names }, (_, i) => {
    const native = i % 17 == 0;
    const name = i % 23 == 0 ? '' : `${pick(words)}${pick(words)}${i}`;
    return {
      name: native ? `native${i}` : name,
      resource: native ? '' : `${pick(folders)}/${pick(words).toLowerCase()}${i % 90}.ts`,
    };
  });
  const response = emptyResponse(frames, views);
  const other: number[] = [];
  const children: number[][] = [[]];
  const depth = [0];
  const alike: Map<number, number>[] = [new Map()]; // by node: its callees by frame
  for (let node = 1; node <= nodes;) {
    const parent = random() < 0.7 ? node - 1 - Math.floor(random() * Math.min(node, 4)) : Math.floor(random() * node);
    const frame = Math.floor(random() ** 2 * names);
    if (depth[parent]! >= deepest || alike[parent]!.has(frame)) continue;
    alike[parent]!.set(frame, node);
    alike.push(new Map());
    children[parent]!.push(node);
    children.push([]);
    depth.push(depth[parent]! + 1);
    node++;
  }
  const frameOf = new Map(alike.flatMap((callees) => [...callees].map(([frame, node]) => [node, frame] as const)));
  const stack = children[0]!.toReversed();
  while (stack.length > 0) {
    const node = stack.pop()!;
    response.label.push(frameOf.get(node)!);
    response.level.push(depth[node]! - 1);
    const self = random() < 0.5 ? Math.round(1000 / (0.002 + random())) : 0;
    response.self.push(self);
    other.push(random() < 0.9 ? Math.round(self * (0.5 + random())) : 0);
    stack.push(...children[node]!.toReversed());
  }
  response.total_us = response.self.reduce((a, b) => a + b, 0);
  if (base) response.base = sideOf(other, views / 2);
  return response;
}

/** Returns calls in the format of /api/v1/view: for each a name, depth, start and end in µs. */
export function callsOf(calls: readonly (readonly [name: string, level: number, start: number, end: number])[]): Calls {
  const names = [...new Set(calls.map(([name]) => name))];
  return {
    strings: ['', ...names, ...names.map((name) => `src/${name}.ts`)],
    frames: {
      name: names.map((_, i) => i + 1),
      resource: names.map((_, i) => i + 1 + names.length),
      line: names.map((_, i) => i + 1),
      column: names.map(() => 7),
    },
    calls: {
      frame: calls.map(([name]) => names.indexOf(name)),
      level: calls.map(([, level]) => level),
      start_us: calls.map(([, , start]) => start),
      end_us: calls.map(([, , , end]) => end),
    },
    end_us: calls.reduce((most, [, , , end]) => Math.max(most, end), 0),
  };
}

/** Returns this many random calls, in tasks with gaps in between, as in an application. */
export function randomCalls(many: number, seed: number, deepest = 30): Calls {
  const random = randomOf(seed);
  const calls: [string, number, number, number][] = [];
  let now = 0;
  while (calls.length < many) {
    now += Math.round(random() * 3000); // a gap
    const open: number[] = [];
    const least = 2 + Math.round(random() * 40);
    for (let i = 0; i < least || open.length > 0; i++) {
      const opens = i < least && calls.length < many && open.length < deepest && (open.length == 0 || random() < 0.6);
      if (opens) {
        open.push(calls.length);
        calls.push([`f${Math.floor(random() ** 2 * 500)}`, open.length - 1, now, now]);
      } else if (open.length > 0) {
        now += 1 + Math.round(random() * 400);
        calls[open.pop()!]![3] = now;
      }
    }
  }
  return callsOf(calls);
}
