import type { Shipment } from './shipments';

export interface Total {
  key: string;
  tonnes: number;
  price: number;
  median: number;
}

export function groupBy<T, K>(items: Iterable<T>, key: (item: T) => K) {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

/** The median, by quickselect. */
export function median(values: number[]): number {
  const middle = values.length >> 1;
  let low = 0;
  let high = values.length - 1;
  while (low < high) {
    const pivot = values[(low + high) >> 1]!;
    let i = low;
    let j = high;
    while (i <= j) {
      while (values[i]! < pivot) i++;
      while (values[j]! > pivot) j--;
      if (i <= j) [values[i++], values[j--]] = [values[j]!, values[i]!];
    }
    if (middle <= j) high = j;
    else if (middle >= i) low = i;
    else break;
  }
  return values[middle] ?? 0;
}

const sum = (values: readonly number[]) => values.reduce((a, b) => a + b, 0);

export function totals(rows: readonly Shipment[], key: (row: Shipment) => string): Total[] {
  return Array.from(groupBy(rows, key), ([name, group]) => ({
    key: name,
    tonnes: sum(group.map((row) => row.tonnes)),
    price: sum(group.map((row) => row.price)),
    median: median(group.map((row) => row.price)),
  })).sort((a, b) => b.price - a.price);
}

/** Levels out a line by many small steps, as heat does. */
function smooth(values: Float64Array<ArrayBuffer>) {
  const rounds = 150_000;
  let next = values.slice();
  for (let round = 0; round < rounds; round++) {
    for (let i = 1; i + 1 < values.length; i++) next[i] = values[i]! + 0.0001 * (values[i - 1]! - 2 * values[i]! + values[i + 1]!);
    [values, next] = [next, values];
  }
  return values;
}

/** A rolling mean of prices by day, over `width` days. */
export function trend(rows: readonly Shipment[], width = 30) {
  const days = new Float64Array(366);
  for (const row of rows) days[Math.floor((row.leaves - Date.UTC(2026, 0, 1)) / 86_400_000)]! += row.price;
  const means = days.map((_, day) => {
    let total = 0;
    for (let i = Math.max(0, day - width); i <= day; i++) total += days[i]!;
    return total / width;
  });
  return smooth(means);
}
