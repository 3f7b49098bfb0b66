// The time axis of charts.

import { catalog } from '../../api/queries.ts';
import type { Selection } from '../../api/selection.ts';
import type { Catalog } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';

/**
 * With more traces than this, charts use hours: the API computes finer points from traces, and
 * limits their number.
 */
const many = 20_000;

/**
 * For charts that start with the first data, in ms: the unit to which their start is rounded, and
 * their minimum length; with few and with many traces.
 */
const fine = { round: 60_000, shortest: 10 * 60_000 };
const coarse = { round: 3600e3, shortest: 8 * 3600e3 };

/**
 * Stored data of a selection's page, feature and release: when the first trace was received, in ms
 * since 1970, and the number of traces.
 */
export interface Stored {
  first: number;
  traces: number;
}

/** Returns the stored data of a selection, if it is known. */
export function storedOf(
  stored: Catalog | undefined,
  { page, feature, release }: Pick<Selection, 'page' | 'feature' | 'release'>,
): Stored {
  const kind = release ? 'release' : feature ? 'feature' : 'page';
  const name = release || feature;
  const of =
    stored?.entries.filter((one) => one.kind == kind && (!page || one.page == page) && (!name || one.name == name)) ??
    [];
  return {
    first: Math.min(Infinity, ...of.map(({ first }) => Date.parse(first))),
    traces: of.reduce((sum, { traces }) => sum + traces, 0),
  };
}

/**
 * Returns the selection from the first data on, if that is well after its start: ten minutes would
 * be less than a dot in a day.
 */
export function begun(selection: Selection, { first, traces }: Stored, from: number, to: number): Selection {
  const { round, shortest } = traces > many ? coarse : fine;
  const least = Math.min(first, to - shortest);
  const begin = least - (least % round);
  return first < to && begin > from + (to - from) * 0.15
    ? { ...selection, since: new Date(begin).toISOString() }
    : selection;
}

/** Returns the selection and range of charts over time. */
export function useChart(): { chart: Selection; from: number; to: number } {
  const { selection, from, to } = useView();
  const { response } = useQuery(catalog());
  const chart = begun(selection, storedOf(response, selection), from, to);
  return { chart, from: chart == selection ? from : Date.parse(chart.since), to };
}
