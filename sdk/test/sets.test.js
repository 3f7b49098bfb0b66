import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { encodeTrace } from '../src/encodeTrace.js';
import { readSet } from './sets.js';

const testdata = new URL('../../testdata/', import.meta.url);
const names = readdirSync(new URL('sdk/', testdata))
  .filter((name) => name.endsWith('.ftr') && name != 'order.ftr')
  .sort();

// The Go test TestSetGolden compares the same set with the Go encoder.
test('a set returns each of its traces', () => {
  const traces = readSet(readFileSync(new URL('format/v2/sdk.ftr', testdata)));
  assert.equal(traces.length, names.length);
  traces.forEach((trace, i) => {
    if (names[i] == 'privacy.ftr') return; // the script would clean its URLs again
    const want = readFileSync(new URL(`sdk/${names[i]}`, testdata));
    assert.equal(Buffer.from(encodeTrace(...trace)).toString('hex'), want.toString('hex'), names[i]);
  });
});

test('a set returns the chunks of a page view', () => {
  const traces = readSet(readFileSync(new URL('format/v2/chunks.ftr', testdata)));
  assert.deepEqual(
    traces.map(([, context]) => context.$chunk),
    [0, 1, 3, 0],
  );
  assert.equal(new Set(traces.map(([, context]) => String(context.$viewId))).size, 2);
  assert.deepEqual(
    traces.map(([, , cost]) => cost().length),
    [5, 5, 5, 5],
  );
  assert.equal(traces[0][1].$spans.length, 3);
});
