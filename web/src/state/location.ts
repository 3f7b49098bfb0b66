// The current place of the browser. A click on a link to the dashboard changes the place without
// reloading the page.

import { useEffect, useState } from 'preact/hooks';
import { linkHere, placeOf, type Changes, type Place } from './url.ts';

const changedPlace = 'fieldtrie:place';

/** Goes to a relative URL. With replace, it replaces the current entry of the history. */
export function go(href: string, replace = false): void {
  const url = new URL(href, location.href);
  if (url.href == location.href) return;
  const other = url.pathname != location.pathname;
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  if (other) scrollTo(0, 0);
  dispatchEvent(new Event(changedPlace));
}

/** Returns the current place, and renders again when it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location));
  useEffect(() => {
    const update = () => setPlace(placeOf(location));
    addEventListener('popstate', update);
    addEventListener(changedPlace, update);
    return () => {
      removeEventListener('popstate', update);
      removeEventListener(changedPlace, update);
    };
  }, []);
  return place;
}

/** Changes parameters of the current place. */
export function change(changes: Changes, replace = false): void {
  go(linkHere(placeOf(location), changes), replace);
}

/** Handles clicks on links of the dashboard, below the folder in which it was opened. */
export function followLinks(): () => void {
  const folder = new URL('.', location.href);
  const follow = (event: MouseEvent) => {
    const modified = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (event.defaultPrevented || event.button || modified) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || link.target || link.hasAttribute('download')) return;
    const url = new URL(link.href, location.href);
    const rest = url.href.startsWith(folder.href) ? url.pathname.slice(folder.pathname.length) : '/';
    if (/[/.]/.test(rest) || url.hash || ['licenses', 'metrics'].includes(rest)) return;
    event.preventDefault();
    go(url.href);
  };
  document.addEventListener('click', follow);
  return () => document.removeEventListener('click', follow);
}
