import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { encodeTrace } from '../src/encodeTrace.js';
import { argumentsOf } from './envelope.js';

const folder = new URL('../../testdata/sdk/', import.meta.url);
const vectors = readdirSync(folder).filter((name) => name.endsWith('.json'));

test('there are vectors', () => assert.ok(vectors.length >= 7));

// The Go test TestVectors compares the same files with the Go encoder.
for (const name of vectors)
  test(`${name} has the bytes of the Go encoder`, () => {
    const envelope = JSON.parse(readFileSync(new URL(name, folder), 'utf8'));
    const want = readFileSync(new URL(name.replace('.json', '.ftr'), folder));
    const got = Buffer.from(encodeTrace(...argumentsOf(envelope)));
    assert.equal(got.toString('hex'), want.toString('hex'));
  });

test('the trace is unchanged', () => {
  const envelope = JSON.parse(readFileSync(new URL('order.json', folder), 'utf8'));
  const before = JSON.stringify(envelope);
  encodeTrace(...argumentsOf(envelope));
  assert.equal(JSON.stringify(envelope), before);
});

test('stacks without samples are omitted', () => {
  const trace = {
    resources: ['https://x.example/a.js', 'https://x.example/b.js'],
    frames: [
      { name: 'a', resourceId: 0, line: 1, column: 1 },
      { name: 'b', resourceId: 1, line: 1, column: 1 },
    ],
    stacks: [{ frameId: 0 }, { frameId: 1 }],
    samples: [{ timestamp: 1, stackId: 0 }],
  };
  const bytes = Buffer.from(encodeTrace(...argumentsOf({ interval: 10, trace }))).toString('latin1');
  assert.ok(bytes.includes('a.js') && !bytes.includes('b.js'));
});

test('labels without a value are omitted', () => {
  const trace = { resources: [], frames: [], stacks: [], samples: [] };
  const encode = (labels) => Buffer.from(encodeTrace(...argumentsOf({ interval: 10, labels, trace }))).toString('hex');
  assert.equal(encode({ a: '', b: null, c: undefined, d: 'x' }), encode({ d: 'x' }));
  assert.notEqual(encode({ d: 0 }), encode({}));
});
