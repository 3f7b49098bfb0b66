// Budgets of a page or feature, and their history.

import type { Budget, Series } from '../../api/types.ts';
import type { Sample } from '../../widgets/Sparkline.tsx';

/**
 * Returns the worst budget of a page or a feature, including budgets of functions: a blown one,
 * otherwise the one nearest to its limit.
 */
export function worst(
  budgets: readonly Budget[] | undefined,
  kind: 'page' | 'feature',
  name: string,
): Budget | undefined {
  const used = ({ value, limit }: Budget) => (value?.value ?? 0) / (limit || 1);
  const about = (budgets ?? []).filter((budget) => budget[kind] == name);
  return about.sort((a, b) => Number(b.blown) - Number(a.blown) || used(b) - used(a))[0];
}

/**
 * The history of a function's budget is computed from this many functions: those with the most
 * time.
 */
export const mostFunctions = 100;

/**
 * Returns the self time of a budget's functions over time, from a series by function; nothing if
 * none of them is in it.
 */
export function functionLine({ groups }: Series, { name, resource = '*' }: NonNullable<Budget['function']>): Sample[] {
  const pattern = resource
    .split('*')
    .map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  const place = new RegExp(`^${pattern}(:\\d+:\\d+)?$`, 's');
  const sums = new Map<number, number>();
  let found = false;
  for (const { labels, points } of groups) {
    const text = labels.function ?? '';
    const is = text == name ? resource == '*' : text.startsWith(`${name} `) && place.test(text.slice(name.length + 1));
    found ||= is;
    for (const { time, mean_ms: mean } of points) {
      if (time) sums.set(Date.parse(time), (sums.get(Date.parse(time)) ?? 0) + (is ? mean : 0));
    }
  }
  return found ? [...sums].sort(([a], [b]) => a - b).map(([time, value]) => ({ time, value })) : [];
}
