import { parse } from '@babel/parser';
import { functions, scriptsOf } from './functions.js';
import { markerOf } from './marker.js';

/**
 * The compared parts of a function: its tokens, without comments.
 * @typedef {object} Text
 * @property {string} file
 * @property {number} line
 * @property {number} column
 * @property {string} path names of the enclosing functions, and its own
 * @property {string} own without nested functions and its name
 * @property {string} whole
 */

/**
 * Returns the texts of the functions in a source, by marker.
 * @param {string} text
 * @param {string} file
 */
export function textsOf(text, file) {
  const code = file.endsWith('.vue') ? scriptsOf(text) : text;
  const plugins = [...(file.endsWith('.js') ? [] : ['typescript']), ...(file.endsWith('x') ? ['jsx'] : [])];
  const { tokens } = parse(code, {
    sourceType: 'unambiguous',
    plugins,
    tokens: true,
    allowReturnOutsideFunction: true,
  });
  const words = tokens
    .filter(({ type }) => type.label)
    .map(({ start, end, type }) => ({
      start,
      end,
      word: type.label == 'jsxText' ? code.slice(start, end).replace(/\s+/g, '') : code.slice(start, end),
    }));
  const all = functions(text, file).filter(({ node }) => node);
  /** @type {Map<number, Text>} */
  const found = new Map();
  for (const fn of all) {
    const { node, line, column } = fn;
    const around = all.filter((other) => other != fn && other.node.start <= node.start && node.end <= other.node.end);
    const within = all.filter((other) => other != fn && node.start <= other.node.start && other.node.end <= node.end);
    const inside = words.filter(({ start, end }) => start >= node.start && end <= node.end);
    const id = node.id ?? (node.computed ? undefined : node.key);
    const own = inside.filter(
      ({ start }) =>
        !within.some((other) => start >= other.node.start && start < other.node.end) &&
        !(id && start >= id.start && start < id.end),
    );
    // The positions of nested functions, without their contents.
    const places = within.filter(
      (other) =>
        !within.some(
          (outer) => outer != other && outer.node.start <= other.node.start && other.node.end <= outer.node.end,
        ),
    );
    const marks = places.map(({ node: { start } }) => ({ start, word: '\u0001' }));
    const joined = (list) => list.map(({ word }) => word).join('\u0000');
    found.set(markerOf(node), {
      file,
      line,
      column,
      path: [...around, fn].map((f) => f.class + '.' + (f.name || f.property)).join('/'),
      own: joined([...own, ...marks].sort((a, b) => a.start - b.start)),
      whole: joined(inside),
    });
  }
  return found;
}

/**
 * Compares the functions of sources. Rows: `[kind, file, line, column, file, line, column]`, with
 * nulls for a function that does not exist. Kinds: unchanged, moved (to another file or name, but
 * otherwise unchanged), around (only a nested function changed), edited, replaced (both edited and
 * moved), added, removed.
 * @param {Map<number, Text>} before by marker
 * @param {Map<number, Text>} after
 */
export function editsOf(before, after) {
  const rows = [];
  const placeOf = (text) => (text ? [text.file, text.line, text.column] : [null, null, null]);
  for (const number of new Set([...before.keys(), ...after.keys()])) {
    const [a, b] = [before.get(number), after.get(number)];
    rows.push([kindOf(a, b), ...placeOf(a), ...placeOf(b)]);
  }
  return rows;
}

function kindOf(a, b) {
  if (!a) return 'added';
  if (!b) return 'removed';
  const moved = a.file != b.file || a.path != b.path;
  if (a.own != b.own) return moved ? 'replaced' : 'edited';
  if (a.whole != b.whole && !(moved && a.file == b.file)) return 'around';
  return moved ? 'moved' : 'unchanged';
}
