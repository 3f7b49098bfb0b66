// What finds a function in a flame graph.

import type { Frame } from '../tree/tree.ts';

/** The letters of a name that are looked for: those of a longer one are the same up to there. */
const longest = 200;

/**
 * Returns the expression that finds a function by its whole name, as somebody would type it. A function without a name is
 * found by its file.
 */
export function expressionFor({ name, resource }: Frame): string {
  const text = name || resource;
  if (text == '') return '';
  const whole = text.length <= longest;
  // Of a cut pair of surrogates nothing is left that could match.
  return `/^${escaped(text.slice(0, longest).replace(/[\ud800-\udbff]$/, ''))}${whole ? '$' : ''}/`;
}

const unseen = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Returns a text as an expression that stands for it. What can not be seen or typed is written by its number. */
function escaped(text: string): string {
  const number = (letter: string) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&').replace(unseen, number);
}
