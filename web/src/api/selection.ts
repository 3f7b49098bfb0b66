// The selection. It is stored in the URL, under the same names as the parameters of the API.

/** Filters of a query. Empty texts do not filter. */
export interface Selection {
  page: string;
  feature: string;
  release: string;
  /** Conditions such as device=mobile-low, page!=/, browser=~Chrome.*. */
  label: string[];
  /** A duration before now (24h), a date or an RFC 3339 time. */
  since: string;
  until: string;
}

/** The other side of a comparison. Undefined properties are equal to the first side's. */
export type OtherSide = Partial<Selection>;

/** The time range of URLs without one. */
export const defaultSince = '24h';

const texts = ['page', 'feature', 'release', 'since', 'until'] as const;

/** Returns the selection of a URL's parameters. */
export function selectionOf(params: URLSearchParams): Selection {
  const text = (key: string) => params.get(key) ?? '';
  return {
    page: text('page'),
    feature: text('feature'),
    release: text('release'),
    label: params.getAll('label'),
    since: text('since') || defaultSince,
    until: text('until'),
  };
}

/** Returns the other side from a URL's parameters, or undefined without a comparison. */
export function otherSideOf(params: URLSearchParams): OtherSide | undefined {
  const other: OtherSide = {};
  for (const key of texts) {
    const value = params.get(`compare_${key}`);
    if (value != null) other[key] = value;
  }
  const label = params.getAll('compare_label');
  if (label.length) other.label = label;
  return Object.keys(other).length ? other : undefined;
}

/** Returns the API's parameters for a selection. */
export function paramsOf(selection: Selection, other?: OtherSide): URLSearchParams {
  const params = new URLSearchParams();
  for (const key of texts) if (selection[key]) params.set(key, selection[key]);
  for (const label of selection.label) params.append('label', label);
  if (other) {
    for (const key of texts) if (other[key] != null) params.set(`compare_${key}`, other[key]);
    for (const label of other.label ?? []) params.append('compare_label', label);
  }
  return params;
}

/** A parsed condition on a label. */
export interface Condition {
  key: string;
  operator: '=' | '!=' | '=~' | '!~';
  value: string;
}

/** Parses a condition; returns undefined if it is invalid. */
export function conditionOf(label: string): Condition | undefined {
  const parts = /^([^=!~]+)(=~|!~|!=|=)([\s\S]*)$/.exec(label);
  if (!parts) return undefined;
  return { key: parts[1]!, operator: parts[2] as Condition['operator'], value: parts[3]! };
}

const lengths: Record<string, number> = { m: 60e3, h: 3600e3, d: 86_400e3, w: 7 * 86_400e3 };

/** Returns the milliseconds of a duration such as 90m, 24h or 7d, or undefined if it is invalid. */
export function durationOf(text: string): number | undefined {
  const parts = /^(\d+)([mhdw])$/.exec(text);
  return parts ? Number(parts[1]) * lengths[parts[2]!]! : undefined;
}

/** Returns a selection's since or until if it is neither a duration nor a date. */
export function noTimeOf({ since, until }: Pick<Selection, 'since' | 'until'>): string | undefined {
  return [since, until].find((text) => text && durationOf(text) == undefined && Number.isNaN(Date.parse(text)));
}

/** The longest time before now that the API does not round to hours. */
const unrounded = 6 * 3600e3;

/** Returns the range of a selection in ms since 1970, with the API's rules. */
export function rangeOf(selection: Pick<Selection, 'since' | 'until'>, now: number): { from: number; to: number } {
  const length = durationOf(selection.since);
  let from = length == undefined ? Date.parse(selection.since) : now - length;
  if (length != undefined && length >= unrounded) from -= from % 3600e3;
  const before = durationOf(selection.until);
  const to = before != undefined ? now - before : selection.until ? Date.parse(selection.until) : now;
  return { from: Number.isNaN(from) ? 0 : from, to: Number.isNaN(to) ? now : to };
}

/** Steps of less than an hour, in minutes. */
const fineSteps = [1, 2, 5, 10, 15, 30];

/**
 * Returns the step of a series, such as 2m, or undefined to let the API choose. The API chooses
 * hours or more, because shorter steps are computed from traces. A range of a few hours gets dozens
 * of points.
 */
export function fineStep(selection: Pick<Selection, 'since' | 'until'>): string | undefined {
  const { from, to } = rangeOf(selection, Date.now());
  const minutes = (to - from) / 60_000;
  if (minutes > unrounded / 60_000 + 60) return undefined; // six hours are rounded to seven at most
  return `${fineSteps.find((step) => minutes / step <= 45) ?? 30}m`;
}

/** Returns the selection with its present time range as fixed dates. */
export function frozen<S extends Pick<Selection, 'since' | 'until'>>(selection: S, now: number): S {
  const { from, to } = rangeOf(selection, now);
  return { ...selection, since: new Date(from).toISOString(), until: new Date(to).toISOString() };
}
