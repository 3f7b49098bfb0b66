// The questions that the dashboard asks, by the path of the API that answers them.

import type { TreeAnswer } from '../tree/tree.ts';
import { fineStep, paramsOf, type OtherSide, type Selection } from './selection.ts';
import type { Budgets, Catalog, Comparison, Labels, List, Place, Series, Top, ViewAnswer, Views, Vitals } from './types.ts';

/** A question with an answer of type T. */
export interface Question<T> {
  path: string;
  params: URLSearchParams;
  /** Carries the type alone. */
  readonly answers?: T;
}

type More = Record<string, string | number | boolean | undefined>;

/** Returns the URL of a question, relative to the dashboard. */
export function urlOf({ path, params }: Question<unknown>): string {
  const query = params.toString();
  const from = path == 'metrics' ? '' : 'api/v1/';
  return `${from}${path}${query ? `?${query}` : ''}`;
}

function question<T>(path: string, params: URLSearchParams, more: More = {}): Question<T> {
  for (const [key, value] of Object.entries(more)) if (value != undefined) params.set(key, String(value));
  return { path, params };
}

/** Pages, features or releases with their page views and times. */
export function list(kind: 'pages' | 'features' | 'releases', selection: Selection, limit?: number): Question<List> {
  return question(kind, paramsOf(selection), { limit });
}

/** How many page views were profiled, by page. */
export function coverage(selection: Selection): Question<List> {
  return question('coverage', paramsOf(selection));
}

/** Page views and times, over time or of all of it, by labels or parts of the code. */
export function series(
  selection: Selection,
  more: { step?: string; group_by?: string; by?: string; limit?: number; histogram?: boolean; coverage?: boolean } = {},
): Question<Series> {
  const step = more.by || more.histogram ? undefined : fineStep(selection);
  return question('series', paramsOf(selection), { step, ...more });
}

/** Page views of each release over time, whichever is selected. */
export function byRelease(selection: Selection): Question<Series> {
  return question('series', paramsOf({ ...selection, release: '' }), { group_by: 'release', limit: 100 });
}

/** How page views were for visitors. */
export function vitals(selection: Selection): Question<Vitals> {
  return question('vitals', paramsOf(selection));
}

/** Functions, or parts of the code, that take the most time. */
export function top(selection: Selection, more: { by?: string; limit?: number; sort?: string } = {}): Question<Top> {
  return question('top', paramsOf(selection), more);
}

/** A call tree, of two sides if there is another one. */
export function tree(
  selection: Selection,
  more: { max_nodes?: number; root?: string; only?: string; by?: string } = {},
  other?: OtherSide,
): Question<TreeAnswer> {
  return question('tree', paramsOf(selection, other), more);
}

/** Who calls a function, or what it calls. */
export function around(
  direction: 'callers' | 'callees',
  selection: Selection,
  place: Place,
  max_nodes?: number,
): Question<TreeAnswer> {
  const { name, resource, line, column } = place;
  return question(direction, paramsOf(selection), {
    name,
    resource: resource || undefined,
    line: line || undefined,
    column: column || undefined,
    max_nodes,
  });
}

/** What changed from the other side to the selection. */
export function compare(
  selection: Selection,
  other: OtherSide,
  more: { by?: string; limit?: number; min_views?: string; method?: 'sums' } = {},
): Question<Comparison> {
  return question('compare', paramsOf(selection, other), more);
}

/** Labels and their values in some time. */
export function labels(selection: Pick<Selection, 'since' | 'until'>, key?: string): Question<Labels> {
  const all = { page: '', feature: '', release: '', label: [], ...selection };
  return question('labels', paramsOf(all), { key });
}

/** What is stored, whenever it was received. */
export function catalog(): Question<Catalog> {
  return question('catalog', new URLSearchParams());
}

/** Budgets and how things stand with them. */
export function budgets(): Question<Budgets> {
  return question('budgets', new URLSearchParams());
}

/** What the daemon says of itself, as a text for Prometheus. */
export function metrics(): Question<string> {
  return question('metrics', new URLSearchParams());
}

/** Single page views at quantiles of their time: numbers from 0 to 1, with commas between. */
export function views(selection: Selection, quantiles: string): Question<Views> {
  return question('views', paramsOf(selection), { quantiles: quantiles || undefined });
}

/** What one page view went through, looked for on a page and in a time. */
export function view({ page, since, until }: Selection, id: string): Question<ViewAnswer> {
  return question('view', paramsOf({ page, feature: '', release: '', label: [], since, until }), { id });
}
