// What a comparison says, in one sentence.

import type { Comparison, FunctionChange, Status } from '../api/types.ts';
import { count, number, percent, plural, signed, signedPercent } from '../widgets/numbers.ts';

/** What a comparison says: what is it called, and in which words. */
export interface Verdict {
  status: Status;
  sentence: string;
  /** What else has to be known. */
  remarks: string[];
}

/** Changes that are more than noise. */
const sure: readonly Status[] = ['slower', 'faster', 'new', 'gone'];

/** Returns the functions that changed for sure, the largest change first. */
export function changedFunctions({ functions }: Comparison): FunctionChange[] {
  const size = (change: FunctionChange) => Math.abs(change.change_ms.value);
  return functions.filter(({ status }) => sure.includes(status)).sort((a, b) => size(b) - size(a));
}

/** Returns the fewest functions that have four fifths of a change, or all that go its way if they have less. */
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

/** Returns what a comparison says. */
export function verdictOf(comparison: Comparison): Verdict {
  const { total, views, min_views, enough, uncovered, warnings = [] } = comparison;
  const { status } = total;
  const remarks = [...warnings];
  if (uncovered > 0.005) {
    const left = percent(uncovered);
    remarks.push(`${left} of the page views are left out: the other side has none of their devices or browsers.`);
  }
  if (!enough || status == 'too few views') {
    const there = `${count(views.a)} against ${count(views.b)}`;
    const sentence = `Too few page views to say: ${there}, each side needs ${count(min_views)}.`;
    return { status: 'too few views', sentence, remarks };
  }
  const parts = [changeText(comparison)];
  const { functions, share } = explained(comparison);
  if (status == 'within noise') {
    const changed = changedFunctions(comparison).length;
    parts.push(`a change of less than ${number(total.detectable_ms)} ms can not be told from noise`);
    if (changed) parts.push(`${plural(changed, 'function')} changed for sure`);
    return { status, sentence: `Within noise: ${parts.join('; ')}.`, remarks };
  }
  if (functions) parts.push(`${percent(Math.min(share, 1))} of it in ${plural(functions, 'function')}`);
  if (Math.abs(total.mix_ms) >= 0.005) parts.push(`traffic mix ${signed(total.mix_ms)} ms`);
  return { status, sentence: `${parts.join('; ')}.`, remarks };
}

/** The change of all time: +18 ms (+17 %), 95 % +11 to +25. */
function changeText({ total }: Comparison): string {
  const { value, low, high } = total.change_ms;
  const relative = total.relative == undefined ? '' : ` (${signedPercent(total.relative)})`;
  const known = low != undefined && high != undefined;
  const interval = known ? `, 95\u00a0% ${signed(low)} to ${signed(high)}` : ', no interval is known';
  return `${signed(value)}\u00a0ms${relative}${interval}`;
}
