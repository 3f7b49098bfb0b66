import { forwardRef, memo, useCallback, useImperativeHandle, useMemo, type ReactNode } from 'react';
import { useViewport } from './useViewport';

export interface GridColumn<Row> {
  key: keyof Row & string;
  title: string;
  width: number;
  cell?: (row: Row) => ReactNode;
}

interface GridProps<Row> {
  rows: readonly Row[];
  columns: readonly GridColumn<Row>[];
  sorted?: string;
  chosen: ReadonlySet<number>;
  onSort: (column: keyof Row & string) => void;
  onChoose: (id: number) => void;
}

export interface GridHandle {
  scrollTo(row: number): void;
}

type AnyRow = Record<string, any> & { id: number };

const rowHeight = 24;

const Cell = memo(function Cell({ width, children }: { width: number; children: ReactNode }) {
  return <span style={{ display: 'inline-block', width, overflow: 'hidden' }}>{children}</span>;
});

const HeaderCell = memo(({ column, mark, onSort }: { column: GridColumn<any>; mark: string; onSort: (key: any) => void }) => {
  const sort = useCallback(() => onSort(column.key), [column, onSort]);
  return (
    <button data-column={column.key} style={{ width: column.width }} onClick={sort}>
      {column.title} {mark}
    </button>
  );
});

function GridRowView({ row, top, columns, chosen, onChoose }: {
  row: AnyRow;
  top: number;
  columns: readonly GridColumn<AnyRow>[];
  chosen: boolean;
  onChoose: (id: number) => void;
}) {
  return (
    <div
      className="row"
      style={{ position: 'absolute', top, whiteSpace: 'nowrap', background: chosen ? 'gold' : undefined }}
      onClick={() => onChoose(row.id)}
    >
      {columns.map((column) => (
        <Cell key={column.key} width={column.width}>
          {column.cell ? column.cell(row) : String(row[column.key])}
        </Cell>
      ))}
    </div>
  );
}

const GridRow = memo(GridRowView, function sameRow(before, after) {
  return before.row == after.row && before.top == after.top && before.chosen == after.chosen;
});

/** A table with elements only for the visible rows. */
export const Grid = forwardRef<GridHandle, GridProps<AnyRow>>(function Grid(
  { rows, columns, sorted, chosen, onSort, onChoose },
  ref,
) {
  const { element, viewport, onScroll } = useViewport(rows.length, rowHeight);
  useImperativeHandle(ref, () => ({
    scrollTo(row) {
      element.current!.scrollTop = row * rowHeight;
    },
  }), [element]);

  const shown = useMemo(
    () => rows.slice(viewport.first, viewport.last).map((row, i) => ({ row, top: (viewport.first + i) * rowHeight })),
    [rows, viewport],
  );

  return (
    <div className="grid">
      <div>
        {columns.map((column) => (
          <HeaderCell key={column.key} column={column} mark={sorted == column.key ? '▾' : ''} onSort={onSort} />
        ))}
      </div>
      <div className="body" ref={element} onScroll={onScroll} style={{ height: 600, overflow: 'auto', position: 'relative' }}>
        <div style={{ height: rows.length * rowHeight }}>
          {shown.map(({ row, top }) => (
            <GridRow key={row.id} row={row} top={top} columns={columns} chosen={chosen.has(row.id)} onChoose={onChoose} />
          ))}
        </div>
      </div>
    </div>
  );
});
