// The visible range of time, and its history.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Range } from '../flame/range.ts';
import { rangeOfText, textOfRange } from './axis.ts';

/** The visible range. */
export interface Seen {
  range: Range;
  /** Moves it, as with a wheel: callbacks are called once it rests. */
  move(range: Range): void;
  /** Goes to a range; undefined is the whole time. */
  to(range: Range | undefined): void;
  /** Returns to the previous range, or to the whole time. */
  back(): void;
}

/** The time without a move, in ms, after which the callback is called. */
const rest = 300;

/**
 * Holds the visible range of a time that starts at 0, as a text. replace: the range was only moved.
 */
export function useStretch(given: string, all: number, tell: (text: string, replace: boolean) => void): Seen {
  const [own, setOwn] = useState<{ given: string; range: Range }>();
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const way = useRef<string[]>([]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const range = useMemo(
    () => (own && own.given == given ? own.range : (rangeOfText(given, all) ?? { from: 0, to: all })),
    [own, given, all],
  );
  const go = (text: string) => {
    clearTimeout(timer.current);
    setOwn(undefined);
    if (text != given) tell(text, false);
  };
  return {
    range,
    move: (next) => {
      setOwn({ given, range: next });
      clearTimeout(timer.current);
      timer.current = setTimeout(() => tell(next.from <= 0 && next.to >= all ? '' : textOfRange(next), true), rest);
    },
    to: (next) => {
      if (given != '') way.current.push(given);
      go(next && (next.from > 0 || next.to < all) ? textOfRange(next) : '');
    },
    back: () => go(way.current.pop() ?? ''),
  };
}
