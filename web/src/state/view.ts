// The context of all pages: the place, its selection and its unit.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { rangeOf, selectionOf, type Selection } from '../api/selection.ts';
import type { Unit } from '../tree/format.ts';
import type { Place } from './url.ts';

export interface View {
  place: Place;
  selection: Selection;
  unit: Unit;
  /** Whether the source is files, which have no times, pages and labels. */
  ofFile: boolean;
  /** Start of the selected time range, in ms since 1970. */
  from: number;
  to: number;
}

/** The units, in the order of the switch. */
export const units: readonly Unit[] = ['ms', 'hours', 'share'];

/** Returns the unit in a URL. */
export function unitOf(params: URLSearchParams): Unit {
  const unit = params.get('unit') as Unit;
  return units.includes(unit) ? unit : 'ms';
}

/** Returns the view of a place at a time in ms since 1970. */
export function viewOf(place: Place, now: number): View {
  const selection = selectionOf(place.params);
  const { from, to } = rangeOf(selection, now);
  const ofFile = place.params.has('title');
  return { place, selection, unit: unitOf(place.params), ofFile, from, to };
}

export const ViewContext = createContext<View | undefined>(undefined);

export function useView(): View {
  const view = useContext(ViewContext);
  if (!view) throw new Error('there is no view around');
  return view;
}
