// Search expressions for a function in a flame graph.

import type { Frame } from '../tree/tree.ts';

/**
 * The maximum number of characters of a name in an expression. Longer names match by their prefix.
 */
const longest = 200;

/**
 * Returns an expression that matches a function by its whole name, or by its file if it has no
 * name.
 */
export function expressionFor({ name, resource }: Frame): string {
  const text = name || resource;
  if (text == '') return '';
  const whole = text.length <= longest;
  // Half of a surrogate pair would match nothing.
  return `/^${escaped(text.slice(0, longest).replace(/[\ud800-\udbff]$/, ''))}${whole ? '$' : ''}/`;
}

const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Escapes a text for a regular expression. Invisible characters become numeric escapes. */
function escaped(text: string): string {
  const number = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(unseen, number);
}
