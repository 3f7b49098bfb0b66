import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeTrace } from '../src/encodeTrace.js';
import { cuts, interactions, nameOf, partsOf } from '../src/interactions.js';
import { argumentsOf } from './envelope.js';

// These tests need no browser: events are plain objects, and elements have only the properties that
// are read.

globalThis.Element = /** @type {any} */ (
  class {
    nodeType = 1;
    #localName;
    #attributes;
    constructor(localName, attributes) {
      this.#localName = localName;
      this.#attributes = attributes;
    }
    get localName() {
      return this.#localName;
    }
    getAttribute(name) {
      return this.#attributes[name] ?? null;
    }
    closest() {
      return 'data-fieldtrie' in this.#attributes ? this : null;
    }
  }
);
const element = (localName, attributes = {}) => new Element(localName, attributes);

const event = (interactionId, startTime, duration, more) => ({
  interactionId,
  name: 'click',
  startTime,
  duration,
  processingStart: startTime + 1,
  processingEnd: startTime + 2,
  target: element('button'),
  ...more,
});

test('parts add up to the total, and none is negative', () => {
  assert.deepEqual(cuts(100, 10, 30), [10, 20, 70]);
  assert.deepEqual(cuts(100), [100]);
  assert.deepEqual(cuts(100, 30, 10), [30, 0, 70]);
  assert.deepEqual(cuts(100, 130, 150), [100, 0, 0]);
  assert.deepEqual(cuts(100, -10, 20), [0, 20, 80]);
});

test('the longest event determines the time of an interaction, or the first of equally long events', () => {
  const [take, find] = interactions();
  take(event(1, 100, 40));
  take(event(1, 200, 80));
  take(event(1, 300, 80));
  const got = take(event(1, 400, 16));
  assert.deepEqual([got.$start, got.$ms], [200, 80]);
  assert.equal(find(1), got);
  assert.equal(find(2), undefined);
});

test('events that end with the same paint share a frame', () => {
  const [take] = interactions();
  take(event(0, 95, 48, { name: 'mousedown', processingStart: 96, processingEnd: 110 }));
  const got = take(event(1, 100, 40, { processingStart: 112, processingEnd: 130 }));
  take(event(2, 100, 60, { processingStart: 150, processingEnd: 158 }));
  assert.deepEqual(partsOf(got), [0, 30, 10]);
});

test('held keys have at most 100 interactions', () => {
  const [take, find] = interactions();
  for (let id = 1; id <= 101; id++) take(event(id, 100 * id, 16, { name: 'keydown' }));
  assert.equal(find(1), undefined);
  assert.equal(find(2).$name, 'key button');
  assert.equal(find(101).$start, 10_100);
});

test('the name of an element comes from the site, or from its properties', () => {
  assert.equal(nameOf(element('button', { id: 'save' })), 'button#save');
  assert.equal(nameOf(element('div', { role: 'menu' })), 'div[menu]');
  assert.equal(nameOf({ nodeType: 3, parentElement: element('p') }), 'p');
  assert.equal(nameOf(element('p', { 'data-fieldtrie': 'cart' })), 'cart');
  assert.equal(nameOf(element('p', { 'data-fieldtrie': '', id: 'x' })), 'p#x');
  assert.equal(nameOf(element('x'.repeat(100))).length, 60);
  for (const none of [undefined, null, { nodeType: 9 }, { nodeType: 3, parentElement: null }])
    assert.equal(nameOf(none), '');
});

test('identifiers in ids are masked as a whole', () => {
  for (const [id, want] of [
    ['save17', 'save*'],
    ['row-٣٤٥٦٧', 'row-*'],
    ['item-１２', 'item-*'],
    ['550e8400-e29b-41d4-a716-446655440000', '*'],
    ['cart-550E8400-E29B-41D4-A716-446655440000-x', 'cart-*-x'],
    ['u-0a1b2c3d4e5f60718293', 'u-*'],
    ['deadbeefcafe', 'deadbeefcafe'],
    ['feedbacked', 'feedbacked'],
  ])
    assert.equal(nameOf(element('p', { id })), 'p#' + want);
});

test('the first event of an interaction names it, even if it no longer has an element', () => {
  const [take] = interactions();
  take(event(1, 100, 40, { name: 'pointerup', target: element('p') }));
  assert.equal(take(event(1, 90, 48, { name: 'pointerdown', target: null })).$name, 'pointer ');
  assert.equal(take(event(1, 100, 40)).$name, 'pointer ');
  take(event(2, 300, 40));
  assert.equal(take(event(2, 290, 40, { target: element('a', { id: 'x' }) })).$name, 'pointer a#x');
});

test('markers are kept if the first sample has none', () => {
  const sample = (timestamp, marker) => ({ timestamp, marker });
  const encode = (...samples) => {
    const trace = { resources: [], frames: [], stacks: [], samples };
    return encodeTrace(...argumentsOf({ interval: 10, trace }));
  };
  const plain = encode(sample(1), sample(11), sample(21));
  for (const marked of [1, 11, 21]) {
    const samples = [1, 11, 21].map((time) => sample(time, time == marked ? 'gc' : undefined));
    assert.ok(encode(...samples).length > plain.length);
  }
});
