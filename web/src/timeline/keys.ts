// Keys and pointer gestures for calls in chronological order.

import type { KeyList } from '../flame/keys.ts';

/** Keys and gestures with their descriptions, for display. */
export const timeKeys: KeyList = [
  ['← → ↑ ↓', 'move between calls: previous, next, callers and callees'],
  ['Enter, click', 'zoom to a call'],
  ['Esc, Backspace', 'go back'],
  ['Home', 'show all'],
  ['w s', 'zoom in, zoom out; also Ctrl and the wheel'],
  ['a d', 'earlier, later; also by dragging, or Shift and the wheel'],
  ['the strip above', 'drag to select a time range; drag the window or its edges; double click to show all'],
  ['c, double click, Shift click', 'page of the function'],
  ['m, right click', 'menu of the call'],
  ['/', 'search'],
  ['n p', 'next and previous match'],
  ['?', 'this list'],
];
