// Pages that few look at: they are loaded when they are opened. Their styles are there from the start.

import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import '../changes/changes.css';
import '../first/first.css';
import '../health/health.css';
import './views.css';

type Drawn = typeof import('./drawn.ts');

/** Returns a page that is loaded when it is first shown. */
export function later(pageOf: (drawn: Drawn) => ComponentType): ComponentType {
  let loaded: ComponentType | undefined;
  return function Later() {
    const [Page, setPage] = useState(() => loaded);
    useEffect(() => {
      if (Page) return;
      void import('./drawn.ts').then((drawn) => {
        loaded = pageOf(drawn);
        setPage(() => loaded);
      });
    }, []);
    return Page ? <Page /> : null;
  };
}

/** How to send the first trace. */
export const FirstTrace = later((drawn) => drawn.FirstTrace);
