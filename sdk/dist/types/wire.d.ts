/**
 * Encoding of Protocol Buffers, limited to the features of the trie format: see docs/format.md,
 * "Layout".
 */
export type Field = number | number[] | Uint8Array | Uint8Array[] | Uint32Array | Float64Array;
/** @type {(text: unknown) => Uint8Array} a text as UTF-8; empty for undefined */
export declare const utf8: (text: unknown) => Uint8Array;
/** @type {(n: number) => number} zigzag encoding */
export declare const zigzag: (n: number) => number;
/**
 * Encodes a message of fields by number. Fields that are 0 or empty are skipped. A function is
 * called after the fields before it are encoded.
 * @param {(Field | (() => Field))[]} fields
 */
export declare function message(fields: (Field | (() => Field))[]): Uint8Array<ArrayBuffer>;
