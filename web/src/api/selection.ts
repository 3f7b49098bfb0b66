// What is looked at: all of it stands in the URL, under the names that the parameters of the API have.

/** What is asked about. Empty texts say nothing. */
export interface Selection {
  page: string;
  feature: string;
  release: string;
  /** Conditions such as device=mobile-low, page!=/, browser=~Chrome.*. */
  label: string[];
  /** A duration before now (24h), a date or RFC 3339. */
  since: string;
  until: string;
}

/** The other side of a comparison. Undefined properties are those of the first side. */
export type OtherSide = Partial<Selection>;

/** How far back is looked if the URL does not say. */
export const defaultSince = '24h';

const texts = ['page', 'feature', 'release', 'since', 'until'] as const;

/** Returns what the parameters of a URL select. */
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

/** Returns what the parameters of a URL compare with; undefined if they do not. */
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

/** Returns the parameters of a selection, as the API has them. */
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

/** A condition on a label, in its parts. */
export interface Condition {
  key: string;
  operator: '=' | '!=' | '=~' | '!~';
  value: string;
}

/** Returns the parts of a condition, or undefined if it is none. */
export function conditionOf(label: string): Condition | undefined {
  const parts = /^([^=!~]+)(=~|!~|!=|=)([\s\S]*)$/.exec(label);
  if (!parts) return undefined;
  return { key: parts[1]!, operator: parts[2] as Condition['operator'], value: parts[3]! };
}

const lengths: Record<string, number> = { m: 60e3, h: 3600e3, d: 86_400e3, w: 7 * 86_400e3 };

/** Returns the milliseconds of a duration such as 90m, 24h or 7d; undefined if it is none. */
export function durationOf(text: string): number | undefined {
  const parts = /^(\d+)([mhdw])$/.exec(text);
  return parts ? Number(parts[1]) * lengths[parts[2]!]! : undefined;
}

/** Returns the since or until of a selection that is neither a duration nor a date. */
export function noTimeOf({ since, until }: Pick<Selection, 'since' | 'until'>): string | undefined {
  return [since, until].find((text) => text && durationOf(text) == undefined && Number.isNaN(Date.parse(text)));
}

/** The longest time before now that is not rounded to hours by the API. */
const unrounded = 6 * 3600e3;

/** Returns from when to when a selection is, in ms since 1970, as the API understands it. */
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
 * Returns how long the points of a series should be, such as 2m; undefined if the API chooses. It chooses hours at the
 * finest, since finer ones are made of traces: a few hours have some dozens of points then.
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
