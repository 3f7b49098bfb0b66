/**
 * Protocol Buffers on the wire, as far as the trie format takes it: see docs/format.md, "Layout".
 */

/**
 * A field of a message: a number, a column of numbers, bytes, a list of bytes, or one fixed number of
 * 32 or 64 bits.
 * @typedef {number | number[] | Uint8Array | Uint8Array[] | Uint32Array | Float64Array} Field
 */

const encoder = new TextEncoder();

/** @type {(text: unknown) => Uint8Array} a text as UTF-8; of undefined nothing */
export const utf8 = (text) => encoder.encode(/** @type {string} */ (text));

/** @type {(n: number) => number} small numbers of either sign as small numbers */
export const zigzag = (n) => (n < 0 ? -2 * n - 1 : 2 * n);

/**
 * Writes numbers from 0 to 2^53 as varints. Of each number that it returns the last eight bits count.
 * @param {number[]} numbers
 */
function varints(numbers) {
  /** @type {number[]} */
  const out = [];
  for (let n of numbers) {
    for (; n > 127; n = Math.floor(n / 128)) out.push(n | 128);
    out.push(n);
  }
  return out;
}

/**
 * Writes a message of fields by their number. Those that are 0 or empty are left out. A function is
 * called when the fields before it are written.
 * @param {(Field | (() => Field))[]} fields
 */
export function message(fields) {
  /** @type {ArrayLike<number>[]} */
  const parts = [];
  fields.forEach((field, number) => {
    const value = /** @type {any} */ (field).call ? /** @type {any} */ (field)() : field;
    const size = value.BYTES_PER_ELEMENT;
    // Wire type 1 has 8 bytes, 5 has 4; little-endian, as machines with a browser are.
    if (size > 1) parts.push([number * 8 + 9 - size], new Uint8Array(value.buffer));
    else if (value.length)
      for (const row of value[0].buffer ? value : [value]) {
        const bytes = row.buffer ? row : varints(row);
        parts.push(varints([number * 8 + 2, bytes.length]), bytes);
      }
    else if (value > 0) parts.push(varints([number * 8, value]));
  });
  let length = 0;
  for (const part of parts) length += part.length;
  const out = new Uint8Array(length);
  for (const part of parts.reverse()) out.set(part, (length -= part.length));
  return out;
}
