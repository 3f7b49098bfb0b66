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
 * Writes numbers from 0 to 2^53 as varints.
 * @param {number[]} numbers
 */
function varints(numbers) {
  /** @type {number[]} */
  const out = [];
  for (let n of numbers) {
    for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) + 128);
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
  let length = 0;
  /** @type {(bytes: ArrayLike<number>) => void} */
  const put = (bytes) => {
    length += parts[parts.push(bytes) - 1].length;
  };
  fields.forEach((field, number) => {
    /** @type {any} */
    const value = /** @type {any} */ (field).call ? /** @type {any} */ (field)() : field;
    const size = value.BYTES_PER_ELEMENT;
    if (size > 1) {
      put([number * 8 + 9 - size]); // wire type 1 has 8 bytes, 5 has 4
      put(new Uint8Array(value.buffer)); // little-endian, as machines with a browser are
    } else if (value.length) {
      for (const row of value[0].length ? value : [value]) {
        const bytes = row.buffer ? row : varints(row);
        put(varints([number * 8 + 2, bytes.length]));
        put(bytes);
      }
    } else if (value > 0) put(varints([number * 8, value]));
  });
  const out = new Uint8Array(length);
  length = 0;
  for (const bytes of parts) {
    out.set(bytes, length);
    length += bytes.length;
  }
  return out;
}
