import type { Shipment } from './shipments';

export type Column = keyof Shipment;

export interface Order {
  column: Column;
  down: boolean;
}

type Compare = (a: Shipment, b: Shipment) => number;

const collator = new Intl.Collator('en', { sensitivity: 'base' });

const byNumber = (column: 'id' | 'tonnes' | 'price' | 'leaves'): Compare => (a, b) => a[column] - b[column];
const byText = (column: 'ship' | 'from' | 'to' | 'state'): Compare =>
  function compareTexts(a, b) {
    return collator.compare(a[column], b[column]);
  };

const comparisons: Record<Column, Compare> = {
  id: byNumber('id'),
  tonnes: byNumber('tonnes'),
  price: byNumber('price'),
  leaves: byNumber('leaves'),
  ship: byText('ship'),
  from: byText('from'),
  to: byText('to'),
  state: byText('state'),
};

const reversed =
  (compare: Compare): Compare =>
  (a, b) =>
    compare(b, a);

/** Merges two sorted runs. Equal rows keep their order. */
function merge(rows: Shipment[], from: number, middle: number, to: number, compare: Compare, spare: Shipment[]) {
  let left = from;
  let right = middle;
  for (let i = from; i < to; i++) {
    const takeLeft = right >= to || (left < middle && compare(rows[left]!, rows[right]!) <= 0);
    spare[i] = takeLeft ? rows[left++]! : rows[right++]!;
  }
}

export function sortRows(rows: readonly Shipment[], { column, down }: Order): Shipment[] {
  const compare = down ? reversed(comparisons[column]) : comparisons[column];
  let sorted = rows.slice();
  let spare = rows.slice();
  for (let run = 1; run < sorted.length; run *= 2) {
    for (let from = 0; from < sorted.length; from += 2 * run) {
      merge(sorted, from, Math.min(from + run, sorted.length), Math.min(from + 2 * run, sorted.length), compare, spare);
    }
    [sorted, spare] = [spare, sorted];
  }
  return sorted;
}
