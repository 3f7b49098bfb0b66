import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { runInThisContext } from 'node:vm';
import { debugIds } from '../src/debugIds.js';
import { encodeTrace } from '../src/encodeTrace.js';
import { argumentsOf } from './envelope.js';

const names = ['_debugIds', '_sentryDebugIds'];
const [one, two] = ['85314830-023f-4cf1-a267-535f4e37bb17', '11111111-2222-4333-8444-abcdefabcdef'];
const app = 'https://x.example/app.js';

/** @type {(...lines: string[]) => string} */
const stack = (...lines) => ['Error', ...lines.map((line) => `    at ${line}`)].join('\n');

/** @type {(ids: unknown) => void} sets a registry */
const note = (ids) => (globalThis._sentryDebugIds = ids);

/** @type {(marks: object, wanted: Record<string, string | false>) => void} */
const has = (marks, wanted) => assert.deepEqual({ ...marks }, wanted);

afterEach(() => names.forEach((name) => delete globalThis[name]));

test('without registries there are no IDs', () => has(debugIds(), {}));

test('IDs belong to the innermost script', () => {
  note({
    [stack(`${app}:1:88`)]: one,
    [stack('f (https://x.example/b(1).js?v=2:1:88)', `new g (${app}:7:1)`)]: two.toUpperCase(),
    [stack('async https://x.example/c.js:1:2')]: one,
    [stack(`eval (eval at f (${app}:1:2), <anonymous>:1:3)`)]: two,
    [stack('blob:https://x.example/5a5a:1:2')]: two,
  });
  has(debugIds(), {
    [app]: `#debugId=${one}`,
    'https://x.example/b(1).js?v=2': `#debugId=${two}`,
    'https://x.example/c.js': `#debugId=${one}`,
    '<anonymous>': `#debugId=${two}`,
    'blob:https://x.example/5a5a': `#debugId=${two}`,
  });
});

test('stacks of V8 are parsed', () => {
  const say = (/** @type {string} */ id) => `(globalThis._debugIds ??= {})[new Error().stack] = '${id}';`;
  runInThisContext(say(one), { filename: app });
  runInThisContext(`(function () { ${say(two)} })()`, { filename: 'https://x.example/b.js?v=2' });
  runInThisContext(`class Loader { constructor() { ${say(one)} } } new Loader();`, {
    filename: 'https://x.example/c.js',
  });
  has(debugIds(), {
    [app]: `#debugId=${one}`,
    'https://x.example/b.js?v=2': `#debugId=${two}`,
    'https://x.example/c.js': `#debugId=${one}`,
  });
});

test('several IDs are ignored, unless they are equal', () => {
  note({
    [stack(`${app}:1:1`)]: one,
    [stack(`${app}:1:2`)]: two,
    [stack(`${app}:1:3`)]: one,
    [stack('https://x.example/b.js:1:1')]: one,
  });
  globalThis._debugIds = { [stack('https://x.example/b.js:2:2')]: one };
  has(debugIds(), { [app]: false, 'https://x.example/b.js': `#debugId=${one}` });
});

for (const [what, ids] of Object.entries({
  null: null,
  'a text': 'abc',
  'a number': 17,
  'no UUID': { [stack(`${app}:1:1`)]: one.slice(1), [stack(`${app}:1:2`)]: '', [stack(`${app}:1:3`)]: `${one}0` },
  'no text': { [stack(`${app}:1:1`)]: null, [stack(`${app}:1:2`)]: 17, [stack(`${app}:1:3`)]: {} },
  'a prototype': { [stack('__proto__:1:1')]: one },
}))
  test(`${what} in a registry is not an ID`, () => {
    note(ids);
    has(debugIds(), {});
  });

test('an invalid stack names no script', () => {
  note({ [app]: one, '': one, [`Error\n${app}:1:1`]: one, [`${app}:1:1`]: one });
  assert.equal(debugIds()[app], undefined);
  note([one]);
  assert.equal(debugIds()[app], undefined);
});

test('a key that is not a text does not hide later ones', () => {
  note({ [stack(`${app}:1:1`)]: null, [stack(`${app}:1:2`)]: {}, [stack(`${app}:1:3`)]: one });
  has(debugIds(), { [app]: `#debugId=${one}` });
});

test('a registry that throws has no effect', () => {
  const thrower = () => {
    throw new Error('hostile');
  };
  globalThis._debugIds = { [stack(`${app}:1:1`)]: one };
  for (const ids of [
    Object.defineProperty({}, stack(`${app}:1:1`), { get: thrower, enumerable: true }),
    { [stack(`${app}:1:1`)]: { toString: thrower } },
    { [stack(`${app}:1:1`)]: Symbol() },
    new Proxy({}, { ownKeys: thrower }),
  ]) {
    note(ids);
    has(debugIds(), { [app]: `#debugId=${one}` });
  }
  Object.defineProperty(globalThis, '_sentryDebugIds', { get: thrower, configurable: true });
  has(debugIds(), {});
});

test('only the first thousand entries of a huge registry are read', () => {
  let reads = 0;
  const ids = {};
  for (let i = 0; i < 100_000; i++)
    Object.defineProperty(ids, stack(`https://x.example/${i}.js:1:1`), { get: () => (reads++, one), enumerable: true });
  note(ids);
  assert.equal(Object.keys(debugIds()).length, 1000);
  assert.equal(reads, 1000);
});

test('resources of a trace have the IDs of their scripts', () => {
  const resources = [`${app}?v=1`, 'https://x.example/b.js'];
  const trace = {
    resources,
    frames: resources.map((_, resourceId) => ({ name: 'f', resourceId, line: 1, column: 1 })),
    stacks: resources.map((_, frameId) => ({ frameId })),
    samples: resources.map((_, stackId) => ({ timestamp: stackId, stackId })),
  };
  const encode = (trace) => Buffer.from(encodeTrace(...argumentsOf({ interval: 10, trace }))).toString('latin1');
  const without = encode(trace);
  assert.ok(!without.includes('#'));
  note({ [stack(`${app}?v=1:1:1`)]: one });
  const text = encode(trace);
  assert.ok(text.includes(`${app}#debugId=${one}`), 'the ID, instead of the query');
  assert.equal(text.split('#').length, 2);
});
