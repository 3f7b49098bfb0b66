import type { Shipment } from './shipments';

type Test = (row: Shipment) => boolean;

const fold = (text: string) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, '').toLowerCase();

class QueryError extends Error {
  override name = 'QueryError';
}

/** `tonnes>500` or `price<1000` */
function numeric(term: string): Test | undefined {
  const match = /^(tonnes|price)([<>])(\d+)$/.exec(term);
  if (!match) return undefined;
  const column = match[1] as 'tonnes' | 'price';
  const limit = Number(match[3]);
  return match[2] == '<' ? (row) => row[column] < limit : (row) => row[column] > limit;
}

function worded(term: string): Test {
  const word = fold(term);
  if (word.length > 40) throw new QueryError('too long');
  return (row) => fold(row.ship).includes(word) || [row.from, row.to, row.state].some((text) => fold(text).startsWith(word));
}

function parseQuery(query: string): Test[] {
  return query
    .split(/\s+/)
    .filter(Boolean)
    .map((term) => numeric(term) ?? worded(term));
}

export function filterRows(rows: readonly Shipment[], query: string) {
  const tests = parseQuery(query);
  return rows.filter((row) => tests.every((test) => test(row)));
}
