import { compareRows, frameColumns, micros, nodeColumns, sampleColumns } from './columns.js';
import { cut } from './spans.js';
import { message, utf8, zigzag } from './wire.js';

/**
 * The result of the JS Self-Profiling API: https://wicg.github.io/js-self-profiling/
 * @typedef {object} ProfilerTrace
 * @property {string[]} resources URLs of scripts
 * @property {{name: string, resourceId?: number, line?: number, column?: number}[]} frames
 * @property {{frameId: number, parentId?: number}[]} stacks
 * @property {{timestamp: number, stackId?: number, marker?: string}[]} samples times in ms
 */

/**
 * A time range of a page (kind 0), of a feature (1) or of a label (2; the name is `key=value`).
 * Times are in the clock of performance.now().
 * @typedef {[start: number, end: number, kind: 0 | 1 | 2, name: string]} Span
 */

/**
 * The context of a trace. Times are in ms.
 * @typedef {object} Context
 * @property {string} page path
 * @property {Uint8Array} $viewId up to 16 random bytes
 * @property {number} $chunk number of this trace in its page view, from 0
 * @property {number} timeOrigin performance.timeOrigin
 * @property {number} $interval profiler.sampleInterval
 * @property {number} $share probability that any moment of the page view is profiled; 0: unknown
 * @property {string} [release]
 * @property {string} [environment]
 * @property {Record<string, unknown>} labels missing and empty values are skipped; long ones are
 *   truncated, like names of spans
 * @property {Span[]} $spans
 */

/**
 * Encodes a trace as a document of the binary trie format, version 1: see docs/format.md. The Go
 * package encode writes the same bytes for the same trace, except that it keeps stacks without
 * samples.
 * @param {ProfilerTrace} trace
 * @param {Context} context
 * @param {() => number[]} cost called after everything else is encoded: µs to start, stop and
 *   encode, bytes sent, traces dropped
 */
export function encodeTrace(trace, context, cost) {
  // Samples determine the order of nodes, and nodes the set of frames.
  const [nodes, samples] = sampleColumns(trace, micros(context.$interval));
  const [rowOf, frames] = frameColumns(trace, nodes);
  /** @type {Parameters<typeof message>[0]} */
  const fields = [0, magic, contextMessage(context), ...frames, ...nodeColumns(nodes, rowOf), ...samples];
  fields[37] = () => message([0, ...cost().map(Math.round)]);
  return message(fields);
}

const magic = new Uint32Array([0x01525446]); // "FTR", version 1

/** @param {Context} context */
function contextMessage(context) {
  const { labels } = context;
  const keys = Object.keys(labels)
    .filter((key) => (labels[key] ?? '') !== '')
    .sort();
  const spans = context.$spans
    .map(
      ([start, end, kind, name]) =>
        /** @type {const} */ ([micros(start), Math.max(micros(end) - micros(start), 0), kind, name]),
    )
    .sort(compareRows);
  /** @type {(i: number) => any[]} */
  const column = (i) => spans.map((span) => span[/** @type {0} */ (i)]);
  return message([
    0,
    utf8(context.page),
    context.$viewId,
    context.$chunk,
    micros(context.timeOrigin),
    micros(context.$interval),
    context.$share && new Float64Array([context.$share]),
    utf8(context.release),
    utf8(context.environment),
    keys.map(utf8),
    keys.map((key) => utf8(cut(labels[key]))),
    column(2),
    column(3).map((name) => utf8(cut(name))),
    column(0).map((start, i, all) => zigzag(start - (i && all[i - 1]))),
    column(1),
  ]);
}
