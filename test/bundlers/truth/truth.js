import { functions } from './functions.js';
import { markerOf } from './marker.js';

/** @import { Original } from './marked.js' */

/**
 * The truth about a script: its functions according to V8, and their originals where these are known.
 * Rows: `[line, column, name]`, and further `file, line, column, name, class, kind`.
 * @param {string} text of the script
 * @param {string} name of the script
 * @param {Map<number, Original>} originals by marker
 */
export function truthOf(text, name, originals) {
  return functions(text, name).map((fn) => {
    const original = originals.get(fn.node && markerOf(fn.node));
    const row = [fn.line, fn.column, fn.name];
    if (original) row.push(original.file, original.line, original.column, original.name, original.class, original.kind);
    return row;
  });
}

/**
 * Frames of a trace that are not functions of its scripts. There should be none.
 * @param {any} trace a ProfilerTrace
 * @param {Record<string, any[][]>} truth rows by script
 */
export function strangers({ frames, resources }, truth) {
  const places = new Set();
  for (const [script, rows] of Object.entries(truth)) {
    places.add(`${script} 1:1 `); // code outside functions
    for (const [line, column, name] of rows) places.add(`${script} ${line}:${column} ${name}`);
  }
  const scriptOf = ({ resourceId }) => new URL(resources[resourceId]).pathname.split('/').at(-1) ?? '';
  return frames.filter(
    (frame) =>
      frame.resourceId !== undefined &&
      truth[scriptOf(frame)] &&
      !places.has(`${scriptOf(frame)} ${frame.line}:${frame.column} ${frame.name}`),
  );
}
