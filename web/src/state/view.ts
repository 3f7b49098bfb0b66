// What all pages are given: the place, what it selects, and how it is shown.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { rangeOf, selectionOf, type Selection } from '../api/selection.ts';
import type { Unit } from '../tree/format.ts';
import type { Place } from './url.ts';

/** What all pages are given. */
export interface View {
  place: Place;
  selection: Selection;
  unit: Unit;
  /** Whether files are shown, which have no times, pages and labels. */
  ofFile: boolean;
  /** The time that is selected, in ms since 1970. */
  from: number;
  to: number;
}

/** The units, in the order of the switch. */
export const units: readonly Unit[] = ['ms', 'hours', 'share'];

/** Returns the unit that a URL asks for. */
export function unitOf(params: URLSearchParams): Unit {
  const unit = params.get('unit') as Unit;
  return units.includes(unit) ? unit : 'ms';
}

/** Returns what a place shows at a time, in ms since 1970. */
export function viewOf(place: Place, now: number): View {
  const selection = selectionOf(place.params);
  const { from, to } = rangeOf(selection, now);
  const ofFile = place.params.has('title');
  return { place, selection, unit: unitOf(place.params), ofFile, from, to };
}

/** Gives the view to the pages and what they consist of. */
export const ViewContext = createContext<View | undefined>(undefined);

/** Returns what is to be shown. */
export function useView(): View {
  const view = useContext(ViewContext);
  if (!view) throw new Error('there is no view around');
  return view;
}
