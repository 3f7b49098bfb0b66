// Pages that are rarely opened and are loaded on first use. Their styles are loaded at the start.

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

/** Instructions for the first trace. */
export const FirstTrace = later((drawn) => drawn.FirstTrace);
