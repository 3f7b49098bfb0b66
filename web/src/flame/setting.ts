// State that a page can control, for example in its URL, or leave to the component.

import { useState } from 'preact/hooks';

/** Returns a value and its setter: the page's if it passes a value, else local state. */
export function useSetting<T>(
  given: T | undefined,
  first: T,
  tell?: (value: T) => void,
): [value: T, set: (value: T) => void] {
  const [own, setOwn] = useState(first);
  const set = (value: T) => {
    setOwn(() => value);
    tell?.(value);
  };
  return [given === undefined ? own : given, set];
}
