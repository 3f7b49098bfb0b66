// The time of charts over time.

import { catalog } from '../../api/queries.ts';
import type { Selection } from '../../api/selection.ts';
import type { Catalog } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';

/** With more traces than these, the points of charts are hours: the API makes finer ones of traces, of at most so many. */
const many = 20_000;

/** Charts that begin where data begins: what their beginning is rounded to, and their shortest time, in ms. Of few traces and of many. */
const fine = { round: 60_000, shortest: 10 * 60_000 };
const coarse = { round: 3600e3, shortest: 8 * 3600e3 };

/** What is stored of a selection's page, feature and release: when its first trace was received, in ms since 1970, and how many. */
export interface Stored {
  first: number;
  traces: number;
}

/** Returns what is stored of a selection, as far as it is known. */
export function storedOf(stored: Catalog | undefined, { page, feature, release }: Pick<Selection, 'page' | 'feature' | 'release'>): Stored {
  const kind = release ? 'release' : feature ? 'feature' : 'page';
  const name = release || feature;
  const of = stored?.entries.filter((one) => one.kind == kind && (!page || one.page == page) && (!name || one.name == name)) ?? [];
  return { first: Math.min(Infinity, ...of.map(({ first }) => Date.parse(first))), traces: of.reduce((sum, { traces }) => sum + traces, 0) };
}

/** Returns the selection from where data begins on, if that is well after its own beginning: ten minutes are no dot in a day. */
export function begun(selection: Selection, { first, traces }: Stored, from: number, to: number): Selection {
  const { round, shortest } = traces > many ? coarse : fine;
  const least = Math.min(first, to - shortest);
  const begin = least - (least % round);
  return first < to && begin > from + (to - from) * 0.15 ? { ...selection, since: new Date(begin).toISOString() } : selection;
}

/** Returns what charts over time ask for and show. */
export function useChart(): { chart: Selection; from: number; to: number } {
  const { selection, from, to } = useView();
  const { response } = useQuery(catalog());
  const chart = begun(selection, storedOf(response, selection), from, to);
  return { chart, from: chart == selection ? from : Date.parse(chart.since), to };
}
