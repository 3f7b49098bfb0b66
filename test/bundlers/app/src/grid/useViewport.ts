import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

export interface Viewport {
  first: number;
  last: number;
}

const clamp = (value: number, limit: number) => Math.max(0, Math.min(value, limit));

/** The visible rows of a scrolling element. */
export function useViewport(count: number, rowHeight: number, spare = 8) {
  const element = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState<Viewport>({ first: 0, last: 40 });

  const measure = useCallback(() => {
    const { scrollTop = 0, clientHeight = 0 } = element.current ?? {};
    const first = clamp(Math.floor(scrollTop / rowHeight) - spare, count);
    const last = clamp(Math.ceil((scrollTop + clientHeight) / rowHeight) + spare, count);
    setViewport((old) => (old.first == first && old.last == last ? old : { first, last }));
  }, [count, rowHeight, spare]);

  useLayoutEffect(measure, [measure]);

  useEffect(() => {
    const observer = new ResizeObserver(() => measure());
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [measure]);

  return { element, viewport, onScroll: measure };
}
