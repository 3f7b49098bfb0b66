// Keys and pointer gestures for calls in chronological order.

import type { KeyList } from '../flame/keys.ts';

/** Keys and gestures with their descriptions, for display. */
export const timeKeys: KeyList = [
  ['← → ↑ ↓', 'go from call to call: before and after, callers and callees'],
  ['Enter, click', 'make a call as wide as the picture'],
  ['Esc, Backspace', 'back to what was shown before'],
  ['Home', 'show all'],
  ['w s', 'closer, farther; also Ctrl and the wheel'],
  ['a d', 'earlier, later; also by dragging, or Shift and the wheel'],
  ['the strip above', 'drag to choose a time; drag its window or an edge of it; a double click shows all'],
  ['c, double click, Shift click', 'what else is known of the function'],
  ['m, right click', 'what can be done with the call'],
  ['/', 'search'],
  ['n p', 'next and previous match'],
  ['?', 'these keys'],
];
