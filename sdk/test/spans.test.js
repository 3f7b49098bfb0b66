import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeTrace } from '../src/encodeTrace.js';
import { cut } from '../src/spans.js';
import { argumentsOf } from './envelope.js';

const trace = { resources: [], frames: [], stacks: [], samples: [] };

/** Returns a trace without samples as text. */
const encode = (envelope) =>
  Buffer.from(encodeTrace(...argumentsOf({ interval: 10, trace, ...envelope }))).toString('hex');

const feature = (name, start, end) => ({ feature: name, start, end });

test('spans are sorted by time, regardless of their original order', () => {
  const spans = [feature('a', 900, 910), feature('b', 10_000, 10_010), feature('c', 10_000, 10_005)];
  const want = encode({ spans: [spans[0], spans[2], spans[1]] });
  for (const order of [
    [0, 1, 2],
    [1, 0, 2],
    [2, 1, 0],
  ])
    assert.equal(encode({ spans: order.map((i) => spans[i]) }), want);
  // The step from 900 ms to 10,000 ms: twice 9,100,000 µs, as a varint.
  assert.ok(want.includes('c0ebd608'), want);
});

test('a span that ends before it starts is empty', () => {
  assert.equal(encode({ spans: [feature('a', 900, 800)] }), encode({ spans: [feature('a', 900, 900)] }));
  assert.notEqual(encode({ spans: [feature('a', 900, 900)] }), encode({ spans: [feature('a', 900, 901)] }));
});

test('names and values of up to 200 characters are kept', () => {
  assert.equal(cut('x'.repeat(200)), 'x'.repeat(200));
  assert.equal(cut('x'.repeat(201)), 'x'.repeat(199) + '…');
  assert.equal(cut(5), '5');
});

test('long values of labels and names of spans are truncated', () => {
  const [long, short] = ['x'.repeat(300), 'x'.repeat(199) + '…'];
  assert.equal(encode({ labels: { key: long } }), encode({ labels: { key: short } }));
  assert.equal(encode({ spans: [feature(long, 1, 2)] }), encode({ spans: [feature(short, 1, 2)] }));
});
