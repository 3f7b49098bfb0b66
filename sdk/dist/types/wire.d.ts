/**
 * Protocol Buffers on the wire, as far as the trie format takes it: see docs/format.md, "Layout".
 */
export type Field = number | number[] | Uint8Array | Uint8Array[] | Uint32Array | Float64Array;
/** @type {(text: unknown) => Uint8Array} a text as UTF-8; of undefined nothing */
export declare const utf8: (text: unknown) => Uint8Array;
/** @type {(n: number) => number} small numbers of either sign as small numbers */
export declare const zigzag: (n: number) => number;
/**
 * Writes a message of fields by their number. Those that are 0 or empty are left out. A function is
 * called when the fields before it are written.
 * @param {(Field | (() => Field))[]} fields
 */
export declare function message(fields: (Field | (() => Field))[]): Uint8Array<ArrayBuffer>;
