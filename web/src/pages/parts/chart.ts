// The time of charts over time.

import { catalog } from '../../api/queries.ts';
import type { Selection } from '../../api/selection.ts';
import type { Catalog } from '../../api/types.ts';
import { useQuery } from '../../state/responses.ts';
import { useView } from '../../state/view.ts';

/** The shortest time of a chart that begins where data begins, in ms. */
const shortest = 10 * 60_000;

/** Returns when the first trace of a selection's page and release was received, in ms since 1970; Infinity if none is known. */
export function firstOf(stored: Catalog | undefined, { page, feature, release }: Selection): number {
  const kind = release ? 'release' : feature ? 'feature' : 'page';
  const name = release || feature;
  const of = stored?.entries.filter((one) => one.kind == kind && (!page || one.page == page) && (!name || one.name == name));
  return Math.min(Infinity, ...(of ?? []).map(({ first }) => Date.parse(first)));
}

/** Returns the selection from where data begins on, if that is well after its own beginning: ten minutes are no dot in a day. */
export function begun(selection: Selection, first: number, from: number, to: number): Selection {
  const begin = Math.min(first - (first % 60_000), to - shortest);
  return first < to && begin > from + (to - from) * 0.15 ? { ...selection, since: new Date(begin).toISOString() } : selection;
}

/** Returns what charts over time ask for and show. */
export function useChart(): { chart: Selection; from: number; to: number } {
  const { selection, from, to } = useView();
  const { response } = useQuery(catalog());
  const chart = begun(selection, firstOf(response, selection), from, to);
  return { chart, from: chart == selection ? from : Date.parse(chart.since), to };
}
