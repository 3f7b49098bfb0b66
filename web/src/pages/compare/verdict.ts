// A one-sentence summary of a comparison.

import type { Change, Comparison, Estimate, FunctionChange, Status } from '../../api/types.ts';
import { count, number, percent, plural, signed, signedPercent } from '../../widgets/numbers.ts';

/** The summary of a comparison. */
export interface Verdict {
  status: Status;
  sentence: string;
  /** Further remarks. */
  remarks: string[];
}

/** The first words of a verdict. */
export const beginning: Partial<Record<Status, string>> = { slower: 'Slower: ', faster: 'Faster: ' };

/** Statuses of changes that are more than noise. */
export const sure: readonly Status[] = ['slower', 'faster', 'new', 'gone'];

/** Returns the functions that changed by more than noise, by size of the change, descending. */
export function changedFunctions({ functions }: Comparison): FunctionChange[] {
  const size = (change: FunctionChange) => Math.abs(change.change_ms.value);
  return functions.filter(({ status }) => sure.includes(status)).sort((a, b) => size(b) - size(a));
}

/** Reports whether a function is folded into the sum of functions that were not edited. */
export function folds({ not_edited }: Comparison, { code }: FunctionChange): boolean {
  return not_edited != undefined && code == 'not edited';
}

/** Returns a sentence about the functions that were not edited. */
export function notEdited({ functions, changed, largest, change_ms }: NonNullable<Comparison['not_edited']>): string {
  const were = `${plural(functions, 'more function')} ${functions == 1 ? 'was' : 'were'} not edited`;
  if (!changed || !change_ms) return `${were}; none changed by more than noise.`;
  const name = largest?.name || 'anonymous';
  return `${were}; ${count(changed)} of them changed, by at most ${signed(change_ms.value)} ms (${name}).`;
}

/**
 * Returns the fewest functions that account for four fifths of a change, or all functions that
 * changed in its direction if they account for less.
 */
export function explained(comparison: Comparison): { functions: number; share: number } {
  const shares = changedFunctions(comparison)
    .map(({ share }) => share ?? 0)
    .filter((share) => share > 0)
    .sort((a, b) => b - a);
  let share = 0;
  let functions = 0;
  for (const one of shares) {
    if (share >= 0.8) break;
    share += one;
    functions++;
  }
  return { functions, share };
}

/** Returns the summary of a comparison. */
export function verdictOf(comparison: Comparison): Verdict {
  const { total, enough, warnings = [] } = comparison;
  const { status } = total;
  const remarks = [...warnings];
  if (!enough) {
    const sentence = `Not known yet. As measured: ${changeText(total)}.`;
    return { status: 'too few views', sentence, remarks };
  }
  const parts = [changeText(total)];
  const { functions, share } = explained(comparison);
  if (status == 'within noise') {
    const changed = changedFunctions(comparison).length;
    if (total.detectable_ms != null) {
      parts.push(`A change of ${number(total.detectable_ms)} ms would be found nine times out of ten`);
    }
    if (changed) parts.push(`${plural(changed, 'function')} changed significantly`);
    return { status, sentence: `No clear change: ${parts.join('. ')}.`, remarks };
  }
  if (functions) parts.push(`${percent(Math.min(share, 1))} of it is in ${plural(functions, 'function')}`);
  return { status, sentence: `${parts.join('. ')}.`, remarks };
}

/** Reports whether an interval excludes 0. */
export function apart({ low, high }: Estimate): boolean {
  return low != undefined && high != undefined && (low > 0 || high < 0);
}

/** Explains a change by the means as measured, or returns '' if these equal the adjusted ones. */
export function explanation({ mean_ms, measured_ms, mix_ms, browser_ms, left_out_ms }: Change): string {
  if (!mix_ms || (number(mean_ms.a) == number(measured_ms.a) && number(mean_ms.b) == number(measured_ms.b))) return '';
  const parts = [`${signed(mix_ms.value)} ms (${between(mix_ms)}) come from a different traffic mix in B`];
  if (browser_ms && Math.abs(browser_ms.value) >= 0.005) {
    parts.push(`${signed(browser_ms.value)} ms (${between(browser_ms)}) from different browser versions`);
  }
  if (left_out_ms != null && Math.abs(left_out_ms) >= 0.005) {
    parts.push(`${signed(left_out_ms)} ms from traffic that only A has`);
  }
  const difference = signed(measured_ms.b - measured_ms.a);
  return (
    `The means as measured are ${number(measured_ms.a)} ms and ${number(measured_ms.b)} ms. ` +
    `Of their difference of ${difference} ms, ${new Intl.ListFormat('en').format(parts)}.`
  );
}

/** An interval: +11 to +25. */
export function between({ low, high }: Estimate): string {
  return low == undefined || high == undefined ? 'no interval' : `${signed(low)} to ${signed(high)}`;
}

/** A change: +18 ms (+17 %), likely +11 to +25. */
function changeText(change: Change): string {
  const estimate = change.change_ms;
  const relative = change.relative == undefined ? '' : ` (${signedPercent(change.relative)})`;
  const likely = estimate.low == undefined ? '' : 'likely ';
  return `${signed(estimate.value)}\u00a0ms${relative}, ${likely}${between(estimate)}`;
}
