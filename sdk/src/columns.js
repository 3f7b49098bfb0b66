import { debugIds } from './debugIds.js';
import { utf8, zigzag } from './wire.js';

/** @import { ProfilerTrace } from './encodeTrace.js' */
/** @import { Field } from './wire.js' */

/**
 * A call: the number of the node that made it, 0 for the root, and a frame of the trace.
 * @typedef {[parent: number, frame: number]} Node
 */

const markers = ['script', 'gc', 'style', 'layout', 'paint', 'other', 'idle'];

/** @type {(a: number, b: number) => number} */
const gcd = (a, b) => (b ? gcd(b, a % b) : a);

/** @type {(ms: number) => number} whole µs */
export const micros = (ms) => Math.round(ms * 1000);

/** @type {(text: string) => number} bytes of a text in UTF-8 */
const size = (text) => (/[^ -~]/.test(text) ? utf8(text) : text).length; // ASCII needs no encoder

/**
 * Orders rows of three numbers and a text.
 * @param {readonly any[]} a
 * @param {readonly any[]} b
 */
export const compareRows = (a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || +(a[3] > b[3]) || -(a[3] < b[3]);

/**
 * Splits values into runs. Returns the first value and the length of each run, less one.
 * @param {number[]} values
 * @param {(value: number, i: number) => boolean} continues reports whether a value belongs to the
 *   run before it; by default the values of a run are equal
 */
function runsOf(values, continues = (value, i) => value == values[i - 1]) {
  /** @type {number[]} */
  const firsts = [];
  /** @type {number[]} */
  const lengths = [];
  values.forEach((value, i) => {
    if (continues(value, i)) lengths[lengths.length - 1]++;
    else lengths[firsts.push(value) - 1] = 0;
  });
  return [firsts, lengths];
}

/**
 * Returns the nodes of a trace's samples, in the order of their first sample and each stack from
 * the root up, and the fields of the samples, 14 to 20. The first node is node 1.
 * @param {ProfilerTrace} trace
 * @param {number} interval in µs
 * @returns {[Node[], Field[]]}
 */
export function sampleColumns({ samples, stacks }, interval) {
  /** @type {Node[]} */
  const nodes = [];
  /** @type {number[]} */
  const nodeOf = []; // by stack
  /** @type {(stack?: number) => number} */
  const nodeAt = (stack) =>
    stack == null ? 0 : (nodeOf[stack] ??= nodes.push([nodeAt(stacks[stack].parentId), stacks[stack].frameId]));

  // Browsers do not sort them, and the order of equal times is significant.
  const sorted = [...samples].sort((a, b) => micros(a.timestamp) - micros(b.timestamp));
  const times = sorted.map(({ timestamp }) => micros(timestamp));
  const gaps = times.slice(1).map((time, i) => time - times[i]);
  const unit = gaps.reduce(gcd, 0) || 1;
  const usual = Math.floor(interval / unit);

  const [run, lengths] = runsOf(sorted.map(({ stackId }) => nodeAt(stackId)));
  let named = 0; // the last node named by a run
  const runs = run.map((node, i) => {
    const step = node && 2 * zigzag(node - named) + 2;
    named = node || named;
    return step + +!!lengths[i];
  });
  const [marks, markLengths] = runsOf(sorted.map(({ marker }) => (marker ? markers.indexOf(marker) + 1 || 6 : 0)));
  return [
    nodes,
    [
      zigzag(times[0] ?? 0),
      unit,
      gaps.map((gap) => zigzag(gap / unit - usual)),
      runs,
      lengths.filter((length) => length).map((length) => length - 1),
      ...(marks[0] || marks[1] ? [marks, markLengths] : []),
    ],
  ];
}

/**
 * Returns the row of each frame of nodes, and the fields of resources, names and frames, 3 to 10.
 * @param {ProfilerTrace} trace
 * @param {Node[]} nodes
 * @returns {[number[], Field[]]}
 */
export function frameColumns({ resources, frames }, nodes) {
  const marks = debugIds();
  // Remove parts that differ between visitors: query, fragment, content of data: and random end of
  // blob:.
  const urls = resources.map((url) => url.replace(/^(data:[^,;]*|blob:.*(?=\/)|[^?#]*).*/s, '$1') + (marks[url] || ''));
  const order = ['', ...urls].sort();
  const rows = [...new Set(nodes.map(([, frame]) => frame))]
    .map((id) => {
      const { name, resourceId, line = 0, column = 0 } = frames[id];
      const rank = order.indexOf(urls[/** @type {number} */ (resourceId)] ?? '');
      return /** @type {const} */ ([rank, line, column, name, id]);
    })
    .sort(compareRows);

  /** @type {number[]} */
  const rowOf = [];
  /** @type {Map<string, number>} */
  const names = new Map();
  let text = '';
  /** @type {number[]} */
  const shared = [];
  /** @type {number[]} */
  const lengths = [];
  /** @type {number[]} */
  const frameNames = [];
  /** @type {number[]} */
  const positions = [];
  const counts = rows.length ? [0] : []; // at first of the frames without a resource
  let line = 0;
  let column = 0;
  rows.forEach((row, i) => {
    const before = i ? rows[i - 1][0] : 0;
    if (row[0] != before) {
      const url = order[row[0]];
      let n = 0; // in code points, so that none is split
      while (url.codePointAt(n) == order[before].codePointAt(n)) n++;
      shared.push(size(url.slice(0, n)));
      lengths.push(size(url.slice(n)));
      text += url.slice(n);
      counts.push(0);
      line = column = 0;
    }
    if (!i || compareRows(row, rows[i - 1])) {
      // otherwise the trace has the frame twice
      const name = row[3];
      counts[counts.length - 1]++;
      frameNames.push(name ? (names.get(name) ?? (names.set(name, names.size + 2), 1)) : 0);
      if (row[1] == line) positions.push(2 * (row[2] - column));
      else positions.push(2 * (row[1] - line) + 1, row[2]);
      line = row[1];
      column = row[2];
    }
    rowOf[row[4]] = frameNames.length - 1;
  });
  const texts = [...names.keys()];
  return [rowOf, [utf8(text), shared, lengths, utf8(texts.join('')), texts.map(size), frameNames, counts, positions]];
}

/**
 * Returns the fields of nodes, 11 to 13.
 * @param {Node[]} nodes
 * @param {number[]} rowOf each frame
 * @returns {Field[]}
 */
export function nodeColumns(nodes, rowOf) {
  const distances = nodes.map(([parent], i) => i + 1 - parent);
  return [
    ...runsOf(distances, (distance, i) => i > 0 && distance == 1), // each is the child of the node before it
    nodes.map(([parent, frame]) => zigzag(rowOf[frame] - (parent && rowOf[nodes[parent - 1][1]]))),
  ];
}
