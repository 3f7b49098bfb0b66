import { functions } from './functions.js';
import { markerOf } from './marker.js';

/** @import { Original } from './marked.js' */

/**
 * What is true of a script: its functions as V8 has them, and the original of each that is known.
 * Rows: `[line, column, name]`, and further `file, line, column, name, class, kind`.
 * @param {string} text of the script
 * @param {string} name of it
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
