// The width of an element.

import { useLayoutEffect, useState } from 'preact/hooks';
import type { RefObject } from 'preact';

/** Returns the width of an element in CSS pixels, and renders again when it changes. */
export function useWidth(of: RefObject<HTMLElement | null>, before: number): number {
  const [width, setWidth] = useState(before);
  useLayoutEffect(() => {
    const element = of.current;
    if (!element) return;
    // The observer also reports the first width, after layout. Reading the width here would force a
    // second layout.
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry?.contentRect.width || before)));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}
