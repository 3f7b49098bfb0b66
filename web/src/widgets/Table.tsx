// A table with sortable columns. In long tables, only visible rows are drawn.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { meanings, type Term } from './meanings.ts';
import { nextOrder, orderOf, sorted } from './sorting.ts';
import './table.css';

/** A column of rows of type R. */
export interface Column<R> {
  key: string;
  title: ComponentChildren;
  /** The name of the column, if its title is not a text. */
  name?: string;
  term?: Term;
  /** The value to sort by; without it, the column is not sortable. */
  value?: (row: R) => number | string | undefined;
  cell: (row: R) => ComponentChildren;
  /** Texts are left-aligned, numbers right-aligned. */
  text?: boolean;
  /** Whether the column is omitted in narrow windows. */
  wide?: boolean;
  /** Whether texts wrap in narrow windows, unless there are very many rows. */
  wraps?: boolean;
}

interface Props<R> {
  /** A description of the rows for screen readers. */
  caption: string;
  columns: readonly Column<R>[];
  rows: readonly R[];
  rowKey: (row: R) => string;
  /** The initial order, such as -mean. */
  order: string;
  /** Receives the new order; without it, the table keeps the order itself. */
  onOrder?: (order: string) => void;
  empty?: ComponentChildren;
  /** Returns a class for a row. */
  rowClass?: (row: R) => string | undefined;
}

/** In tables with more rows than this, only visible rows are drawn. */
const mostDrawn = 80;
const rowHeight = 33;

/** A table that can be sorted by its columns. */
export function Table<R>(props: Props<R>) {
  const { caption, columns, rows, order: given, onOrder, empty = 'No rows.' } = props;
  const [own, setOwn] = useState(given);
  useEffect(() => setOwn(given), [given]);
  const order = orderOf(own);
  const column = columns.find(({ key }) => key == order.key);
  const ordered = useMemo(
    () => (column?.value ? sorted(rows, column.value, order.descending) : [...rows]),
    [rows, column?.key, order.descending],
  );
  const choose = (key: string, text?: boolean) => {
    const next = nextOrder(order, key, !text);
    setOwn(next);
    onOrder?.(next);
  };
  if (!rows.length) return <p class="empty">{empty}</p>;
  const head = (
    <tr>
      {columns.map((one) => (
        <Head key={one.key} column={one} order={order.key == one.key ? order.descending : undefined} choose={choose} />
      ))}
    </tr>
  );
  return <Rows {...props} caption={caption} head={head} rows={ordered} sortedBy={order.key} />;
}

interface HeadProps<R> {
  column: Column<R>;
  order?: boolean;
  choose: (key: string, text?: boolean) => void;
}

function Head<R>({ column, order, choose }: HeadProps<R>) {
  const sort = order == undefined ? undefined : order ? 'descending' : 'ascending';
  return (
    <th scope="col" class={classOf(column, sort ? column.key : '')} aria-sort={sort}>
      {column.value ? (
        <button
          type="button"
          title={column.term && meanings[column.term]}
          aria-label={column.name}
          onClick={() => choose(column.key, column.text)}
        >
          {column.title}
          {sort && (
            <span class="order" aria-hidden="true">
              {order ? '↓' : '↑'}
            </span>
          )}
        </button>
      ) : (
        column.title
      )}
    </th>
  );
}

function classOf<R>({ text, wide, wraps, key }: Column<R>, sorted: string): string {
  return `${text ? 'text' : 'number'}${wide ? ' wide' : ''}${wraps ? ' wraps' : ''}${key == sorted ? ' sorted' : ''}`;
}

interface RowsProps<R> extends Props<R> {
  head: ComponentChildren;
  /** The key of the column to sort by. */
  sortedBy: string;
}

function Rows<R>({ caption, columns, rows, rowKey, rowClass, head, sortedBy }: RowsProps<R>) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = rows.length > mostDrawn;
  const [first, setFirst] = useState(0);
  const shown = virtual ? 40 : rows.length;
  const begin = virtual ? Math.max(0, Math.min(first, rows.length - shown)) : 0;
  const scroll = () => {
    if (!virtual || !box.current) return;
    const top = Math.floor(box.current.scrollTop / rowHeight) - 10;
    if (Math.abs(top - first) >= 5 || top <= 0) setFirst(Math.max(0, top));
  };
  return (
    <div
      ref={box}
      class={virtual ? 'table virtual' : 'table'}
      tabIndex={0}
      role="group"
      aria-label={`Table: ${caption}`}
      data-steady
      onScroll={scroll}
      onKeyDown={stepRows}
    >
      <table aria-rowcount={rows.length + 1}>
        <caption class="hidden">{caption}</caption>
        <thead>{head}</thead>
        <tbody>
          {begin > 0 && <Space rows={begin} columns={columns.length} />}
          {rows.slice(begin, begin + shown).map((row, i) => (
            <tr key={rowKey(row)} aria-rowindex={virtual ? begin + i + 2 : undefined} class={rowClass?.(row)}>
              {columns.map((column) => (
                <td key={column.key} class={classOf(column, sortedBy)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
          {begin + shown < rows.length && <Space rows={rows.length - begin - shown} columns={columns.length} />}
        </tbody>
      </table>
    </div>
  );
}

/** The space of rows that are not drawn. */
function Space({ rows, columns }: { rows: number; columns: number }) {
  return (
    <tr class="space" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  );
}

/** Moves the focus between the links of rows with arrow keys. */
function stepRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = event.target instanceof Element ? event.target.closest('tbody tr') : null;
  if (!step || !row || event.altKey || event.ctrlKey || event.metaKey) return;
  const next = step > 0 ? row.nextElementSibling : row.previousElementSibling;
  const link = next?.querySelector<HTMLElement>('a, button');
  if (!link) return;
  event.preventDefault();
  link.focus();
  link.scrollIntoView({ block: 'nearest' });
}
