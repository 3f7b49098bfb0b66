// Keys of a flame graph.

/** The command of a key. */
export type Command =
  | 'caller'
  | 'callee'
  | 'left'
  | 'right'
  | 'zoom'
  | 'back'
  | 'all'
  | 'closer'
  | 'farther'
  | 'pan left'
  | 'pan right'
  | 'sandwich'
  | 'menu'
  | 'search'
  | 'next'
  | 'previous'
  | 'keys';

const commands: Record<string, Command> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  Enter: 'zoom',
  ' ': 'zoom',
  Escape: 'back',
  Backspace: 'back',
  Home: 'all',
  '0': 'all',
  w: 'closer',
  '+': 'closer',
  s: 'farther',
  '-': 'farther',
  a: 'pan left',
  d: 'pan right',
  c: 'sandwich',
  m: 'menu',
  ContextMenu: 'menu',
  '/': 'search',
  n: 'next',
  p: 'previous',
  '?': 'keys',
};

/**
 * Returns the command of a key, if any. Callees are below their callers, or above if upwards is
 * set.
 */
export function commandOf(event: KeyboardEvent, upwards: boolean): Command | undefined {
  if (event.metaKey || event.ctrlKey || event.altKey) return undefined;
  if (event.key == 'ArrowUp') return upwards ? 'callee' : 'caller';
  if (event.key == 'ArrowDown') return upwards ? 'caller' : 'callee';
  if (event.shiftKey && event.key == 'F10') return 'menu';
  if (event.shiftKey && event.key == 'Enter') return 'sandwich';
  return commands[event.key];
}

/** Keys and gestures with their descriptions, for display. */
export type KeyList = readonly (readonly [keys: string, what: string])[];

export const keyList: KeyList = [
  ['← → ↑ ↓', 'move between calls: callers, callees and neighbours'],
  ['Enter, click', 'zoom to a call; open (other)'],
  ['Esc, Backspace', 'go back'],
  ['Home', 'show all'],
  ['w s', 'zoom in, zoom out; also Ctrl and the wheel'],
  ['a d', 'move left, move right; also by dragging, or Shift and the wheel'],
  ['c, double click, Shift click', 'callers and callees of the function'],
  ['m, right click', 'menu of the call'],
  ['/', 'search'],
  ['n p', 'next and previous match'],
  ['?', 'this list'],
];
