// The order of a table's rows, as in the URL: sort=views, sort=-views.

/** The column to sort by and the direction. */
export interface Order {
  key: string;
  descending: boolean;
}

/** Parses an order; a leading minus means descending. */
export function orderOf(text: string): Order {
  return { key: text.replace(/^-/, ''), descending: text.startsWith('-') };
}

/**
 * Returns the order after a click on a column, as a text: numbers start with the largest, texts
 * with A.
 */
export function nextOrder(now: Order, key: string, numeric: boolean): string {
  const descending = now.key == key ? !now.descending : numeric;
  return (descending ? '-' : '') + key;
}

/** Returns sorted rows. Rows without a value are last, in either direction. */
export function sorted<R>(
  rows: readonly R[],
  value: (row: R) => number | string | undefined,
  descending: boolean,
): R[] {
  const sign = descending ? -1 : 1;
  return rows
    .map((row) => ({ row, value: value(row) }))
    .sort((a, b) => {
      const missing = Number(a.value == undefined) - Number(b.value == undefined);
      if (a.value == undefined || b.value == undefined) return missing;
      if (typeof a.value == 'string' || typeof b.value == 'string') {
        return sign * String(a.value).localeCompare(String(b.value), 'en', { numeric: true });
      }
      return sign * (a.value - b.value);
    })
    .map(({ row }) => row);
}
