// Sentences about changes, the same as in the output of aggregate changes.

import type { ChangePoint, Estimate, FoundChange, PageChange, What } from '../../api/types.ts';
import type { Sample } from '../../widgets/Sparkline.tsx';
import { number, signed } from '../../widgets/numbers.ts';
import { apart } from '../compare/verdict.ts';

/** The series that changed, without the page. */
export function textOf({ kind, metric, function: place, feature }: What): string {
  if (kind == 'function') return place?.name || '(anonymous)';
  if (kind == 'feature') return `feature ${feature}`;
  return kind == 'vital' ? metric.toUpperCase() : 'JavaScript';
}

/**
 * Returns the change to show first and whether it is at an equal rest of the page view: the plain
 * change, unless that is within noise.
 */
export function shownOf({ change, beside }: PageChange): { estimate: Estimate; atRest: boolean } {
  return beside && !apart(change) && apart(beside)
    ? { estimate: beside, atRest: true }
    : { estimate: change, atRest: false };
}

/** A value in its unit. */
export function valueOf(what: What, value: number): string {
  return what.metric == 'cls' ? number(value) : `${number(value)}\u00a0ms`;
}

/** A change in its unit, with its interval if it is known. */
export function amountOf(what: What, { value, low, high }: Estimate): string {
  const unit = what.metric == 'cls' ? '' : '\u00a0ms';
  const between = low == undefined || high == undefined ? '' : ` (${signed(low)} to ${signed(high)})`;
  return `${signed(value)}${unit}${between}`;
}

/** The release with which the change began, if one explains it. */
export function sinceOf({ release, compare_release: before }: FoundChange): string {
  return release ? `with release ${release} (before: ${before})` : 'with no release that explains it';
}

/** How the change was resolved. */
export function endOf({ resolution }: FoundChange): string {
  if (resolution == 'back') return 'It returned to the earlier level.';
  if (resolution == 'new normal') return 'It lasted 14 days and is the new normal.';
  return 'Resolved by hand.';
}

/** Returns changes by urgency: the newest day first, then the most time. */
export function urgent(all: readonly FoundChange[]): FoundChange[] {
  const day = ({ begin }: FoundChange) => Math.floor(Date.parse(begin) / 86_400_000);
  return all.filter(({ direction }) => direction != 'moved').sort((a, b) => day(b) - day(a) || timeOf(b) - timeOf(a));
}

/** The time of a change on its first page, over all page views in which it was found. */
function timeOf(change: FoundChange): number {
  const [page] = change.pages;
  return page ? Math.abs(shownOf(page).estimate.value) * page.views.b : 0;
}

/** Returns hours as samples at their middle, with a sample without a value in each gap. */
export function hourly(points: readonly ChangePoint[]): Sample[] {
  const hour = 3_600_000;
  return points.flatMap(({ time, value }, i) => {
    const at = Date.parse(time);
    const gap = i > 0 && at - Date.parse(points[i - 1]!.time) > hour;
    const sample = { time: at + hour / 2, value: value.value };
    return gap ? [{ time: at, value: undefined }, sample] : [sample];
  });
}
