/** @import { Original } from './marked.js' */

/**
 * A built release.
 * @typedef {object} Release
 * @property {Map<number, Original>} originals
 * @property {Record<string, any[][]>} truth rows by script
 */

/**
 * Returns the functions of a release that are unchanged in the next one: functions of a file with
 * equal texts, in their order. Rows: `[script, line, column, script, line, column]`.
 * @param {Release} before
 * @param {Release} after
 */
export function sameFunctions(before, after) {
  const built = placesBuilt(after);
  const later = groups(after);
  const pairs = new Map();
  for (const [key, functions] of groups(before)) {
    const others = later.get(key);
    if (others?.length == functions.length)
      functions.forEach((original, i) => pairs.set(placeOf(original), placeOf(others[i])));
  }
  const rows = [];
  for (const [place, here] of placesBuilt(before)) {
    const there = built.get(pairs.get(place));
    if (there) rows.push([...here, ...there]);
  }
  return rows;
}

const placeOf = ({ file, line, column }) => `${file}:${line}:${column}`;

/**
 * Returns originals by file and text, in their order, which is the only distinction between equal
 * functions.
 */
function groups({ originals }) {
  /** @type {Map<string, Original[]>} */
  const groups = new Map();
  for (const original of originals.values()) {
    const key = `${original.file}\n${original.text}`;
    if (groups.has(key)) groups.get(key).push(original);
    else groups.set(key, [original]);
  }
  return groups;
}

/**
 * Returns the positions of originals in the scripts, except for originals with several positions.
 */
function placesBuilt({ truth }) {
  const built = new Map();
  const twice = new Set();
  for (const [script, rows] of Object.entries(truth)) {
    for (const [line, column, , file, ...place] of rows) {
      if (!file) continue;
      const original = placeOf({ file, line: place[0], column: place[1] });
      if (built.has(original)) twice.add(original);
      built.set(original, [script, line, column]);
    }
  }
  for (const original of twice) built.delete(original);
  return built;
}
