// Places in the dashboard: a route of one path segment, and parameters. All links are relative, so
// that the dashboard works below any path.

import { frozen, otherSideOf, selectionOf } from '../api/selection.ts';

/** A place in the dashboard. The route of the overview is empty. */
export interface Place {
  route: string;
  params: URLSearchParams;
}

/** Returns the place of a URL. */
export function placeOf(url: { pathname: string; search: string }): Place {
  return {
    route: url.pathname.slice(url.pathname.lastIndexOf('/') + 1),
    params: new URLSearchParams(url.search),
  };
}

/** Parameters that links to other pages keep: the selection and its display. */
const global = ['since', 'until', 'release', 'label', 'unit', 'title'];

/** Values to set: undefined and empty texts remove a parameter, and lists repeat it. */
export type Changes = Record<string, string | number | readonly string[] | undefined>;

/** Returns a relative URL of a route with some parameters. */
export function hrefOf(route: string, params: URLSearchParams): string {
  const query = params.toString().replace(/%2F/gi, '/').replace(/%3A/gi, ':');
  return `./${route}${query ? `?${query}` : ''}`;
}

/** Returns the parameters with changes applied. */
export function changed(params: URLSearchParams, changes: Changes): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [key, value] of Object.entries(changes)) {
    next.delete(key);
    if (typeof value == 'object') for (const one of value) next.append(key, one);
    else if (value != undefined && value !== '') next.set(key, String(value));
  }
  return next;
}

/** Returns the link from a place to a page, with the same time, release, labels and unit. */
export function linkTo(from: Place, route: string, changes: Changes = {}): string {
  const params = new URLSearchParams();
  for (const key of global) for (const value of from.params.getAll(key)) params.append(key, value);
  return hrefOf(route, changed(params, changes));
}

/** Returns the link to the same page with some parameters changed. */
export function linkHere(from: Place, changes: Changes): string {
  return hrefOf(from.route, changed(from.params, changes));
}

/** Returns a permanent link to the present contents of a place. */
export function permanentLink(from: Place, now: number): string {
  const { params } = from;
  const { since, until } = frozen(selectionOf(params), now);
  const other = otherSideOf(params);
  if (!other?.since) return linkHere(from, { since, until });
  const there = frozen({ since: other.since, until: other.until || since }, now);
  return linkHere(from, { since, until, compare_since: there.since, compare_until: there.until });
}
