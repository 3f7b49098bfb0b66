// The order of the rows of a table, as the URL says it: sort=views, sort=-views.

/** The column that rows are ordered by. */
export interface Order {
  key: string;
  descending: boolean;
}

/** Returns the order that a text says; a minus in front is descending. */
export function orderOf(text: string): Order {
  return { key: text.replace(/^-/, ''), descending: text.startsWith('-') };
}

/** Returns the text of the order after a click on a column: numbers begin with the greatest, texts with A. */
export function nextOrder(now: Order, key: string, numeric: boolean): string {
  const descending = now.key == key ? !now.descending : numeric;
  return (descending ? '-' : '') + key;
}

/** Returns rows in an order. Those without a value are last, whatever the order. */
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
