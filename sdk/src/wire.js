/**
 * Encoding of Protocol Buffers, limited to the features of the trie format: see docs/format.md,
 * "Layout".
 */

/**
 * A field of a message: a number, a column of numbers, bytes, a list of bytes, or one fixed number
 * of 32 or 64 bits.
 * @typedef {number | number[] | Uint8Array | Uint8Array[] | Uint32Array | Float64Array} Field
 */

const encoder = new TextEncoder();

/** @type {(text: unknown) => Uint8Array} a text as UTF-8; empty for undefined */
export const utf8 = (text) => encoder.encode(/** @type {string} */ (text));

/** @type {(n: number) => number} zigzag encoding */
export const zigzag = (n) => (n < 0 ? -2 * n - 1 : 2 * n);

/**
 * Encodes numbers from 0 to 2^53 as varints. Only the low eight bits of each result count.
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
 * Encodes a message of fields by number. Fields that are 0 or empty are skipped. A function is
 * called after the fields before it are encoded.
 * @param {(Field | (() => Field))[]} fields
 */
export function message(fields) {
  /** @type {ArrayLike<number>[]} */
  const parts = [];
  fields.forEach((field, number) => {
    const value = /** @type {any} */ (field).call ? /** @type {any} */ (field)() : field;
    const size = value.BYTES_PER_ELEMENT;
    // Wire type 1 has 8 bytes, 5 has 4; little-endian, like all machines with a browser.
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
