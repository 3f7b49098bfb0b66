// The dashboard's queries, by path of the API.

import type { TreeResponse } from '../tree/tree.ts';
import { fineStep, paramsOf, type OtherSide, type Selection } from './selection.ts';
import type {
  Arrivals,
  BrowserVersions,
  Budgets,
  Catalog,
  ChangeReport,
  FoundChanges,
  Comparison,
  Cost,
  Labels,
  List,
  Place,
  ReleasePair,
  Series,
  Top,
  ViewResponse,
  Views,
  Vitals,
} from './types.ts';

/** A query with a response of type T. */
export interface Query<T> {
  path: string;
  params: URLSearchParams;
  /** Only carries the type. */
  readonly response?: T;
}

type More = Record<string, string | number | boolean | undefined>;

/** Returns the URL of a query, relative to the dashboard. */
export function urlOf({ path, params }: Query<unknown>): string {
  const query = params.toString();
  const from = path == 'metrics' ? '' : 'api/v1/';
  return `${from}${path}${query ? `?${query}` : ''}`;
}

function query<T>(path: string, params: URLSearchParams, more: More = {}): Query<T> {
  for (const [key, value] of Object.entries(more)) if (value != undefined) params.set(key, String(value));
  return { path, params };
}

/** Pages, features or releases with their page views and times. */
export function list(kind: 'pages' | 'features' | 'releases', selection: Selection, limit?: number): Query<List> {
  return query(kind, paramsOf(selection), { limit });
}

/** Number of profiled page views, by page. */
export function coverage(selection: Selection): Query<List> {
  return query('coverage', paramsOf(selection));
}

/** Page views and times, as a series or in total, by labels or parts of the code. */
export function series(
  selection: Selection,
  more: { step?: string; group_by?: string; by?: string; limit?: number; histogram?: boolean; coverage?: boolean } = {},
): Query<Series> {
  const step = more.by || more.histogram ? undefined : fineStep(selection);
  return query('series', paramsOf(selection), { step, ...more });
}

/** The newest release, or the selected one, and the earlier release to compare it with. */
export function newest(selection: Selection): Query<ReleasePair> {
  return query('newest', paramsOf(selection));
}

/** Browser versions over time. */
export function browsers(selection: Selection): Query<BrowserVersions> {
  return query('browsers', paramsOf(selection));
}

/** Web Vitals. */
export function vitals(selection: Selection): Query<Vitals> {
  return query('vitals', paramsOf(selection));
}

/** The cost of profiling for visitors. */
export function cost(selection: Selection): Query<Cost> {
  return query('cost', paramsOf(selection));
}

/** Functions, or parts of the code, that take the most time. */
export function top(selection: Selection, more: { by?: string; limit?: number; sort?: string } = {}): Query<Top> {
  return query('top', paramsOf(selection), more);
}

/** Detected changes, newest first. */
export function changes(state: string, page = ''): Query<FoundChanges> {
  return query('changes', new URLSearchParams(), { state: state || undefined, page: page || undefined });
}

/** A detected change with its series. */
export function change(id: string): Query<ChangeReport> {
  return query(`changes/${encodeURIComponent(id)}`, new URLSearchParams());
}

/** A call tree, with both sides if there is a comparison. */
export function tree(
  selection: Selection,
  more: { max_nodes?: number; root?: string; only?: string; by?: string } = {},
  other?: OtherSide,
): Query<TreeResponse> {
  return query('tree', paramsOf(selection, other), more);
}

/** The callers or callees of a function. */
export function around(
  direction: 'callers' | 'callees',
  selection: Selection,
  place: Place,
  max_nodes?: number,
): Query<TreeResponse> {
  const { name, resource, line, column } = place;
  return query(direction, paramsOf(selection), {
    name,
    resource: resource || undefined,
    line: line || undefined,
    column: column || undefined,
    max_nodes,
  });
}

/** Changes from the other side to the selection. */
export function compare(
  selection: Selection,
  other: OtherSide,
  more: { by?: string; limit?: number; min_views?: string; method?: 'sums' } = {},
): Query<Comparison> {
  return query('compare', paramsOf(selection, other), more);
}

/** Labels and their values in a time range. */
export function labels(selection: Pick<Selection, 'since' | 'until'>, key?: string): Query<Labels> {
  const all = { page: '', feature: '', release: '', label: [], ...selection };
  return query('labels', paramsOf(all), { key });
}

/** A catalogue of all stored data, of any age. */
export function catalog(): Query<Catalog> {
  return query('catalog', new URLSearchParams());
}

/** Budgets and their status. */
export function budgets(): Query<Budgets> {
  return query('budgets', new URLSearchParams());
}

/** The public address, and the requests that it received since the daemon's start. */
export function arrivals(): Query<Arrivals> {
  return query('arrivals', new URLSearchParams());
}

/** The daemon's metrics in the text format of Prometheus. */
export function metrics(): Query<string> {
  return query('metrics', new URLSearchParams());
}

/** Single page views at quantiles of their time: comma-separated numbers from 0 to 1. */
export function views(selection: Selection, quantiles: string): Query<Views> {
  return query('views', paramsOf(selection), { quantiles: quantiles || undefined });
}

/** The course of a page view, searched on a page and in a time range. */
export function view({ page, since, until }: Selection, id: string): Query<ViewResponse> {
  return query('view', paramsOf({ page, feature: '', release: '', label: [], since, until }), { id });
}
