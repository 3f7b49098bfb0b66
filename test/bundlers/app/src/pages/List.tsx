import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'react-router';
import type { Shipment } from '../data/shipments';
import { Grid, type GridColumn, type GridHandle } from '../grid/Grid';
import { debounce } from '../lib/debounce';
import formatTonnes, { formatDay, formatMoney } from '../lib/format';
import { useShipments } from '../state';

const columns: readonly GridColumn<Shipment>[] = [
  { key: 'id', title: 'No.', width: 70, cell: (row) => <Link to={`/shipments/${row.id}`}>{row.id}</Link> },
  { key: 'ship', title: 'Ship', width: 130 },
  { key: 'from', title: 'From', width: 100 },
  { key: 'to', title: 'To', width: 100 },
  { key: 'state', title: 'State', width: 80 },
  { key: 'tonnes', title: 'Load', width: 80, cell: ({ tonnes }) => formatTonnes(tonnes) },
  { key: 'price', title: 'Price', width: 90, cell: (row) => formatMoney(row.price) },
  { key: 'leaves', title: 'Leaves', width: 120, cell: (row) => formatDay(row.leaves) },
];

function useVisibleRows() {
  const store = useShipments((state) => state.store);
  const order = useShipments((state) => state.order);
  const query = useDeferredValue(useShipments((state) => state.query));
  return useMemo(() => store.view({ order, query }), [store, order, query]);
}

function SearchField() {
  const search = useShipments((state) => state.search);
  const [text, setText] = useState('');
  const later = useMemo(() => debounce((value: string) => search(value), 60), [search]);
  useEffect(() => later.cancel, [later]);
  return (
    <input
      placeholder="port, ship, tonnes>500"
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        later(event.target.value);
      }}
    />
  );
}

export default function List() {
  const rows = useVisibleRows();
  const { order, sortBy, chosen, toggle } = useShipments();
  const grid = useRef<GridHandle>(null);

  useEffect(() => {
    document.title = `${rows.length} shipments`;
  }, [rows]);

  return (
    <>
      <p>
        <SearchField /> {rows.length} shipments, {chosen.size} chosen{' '}
        <button id="end" onClick={() => grid.current?.scrollTo(rows.length - 1)}>end</button>
      </p>
      <Grid ref={grid} rows={rows} columns={columns as any} sorted={order.column} chosen={chosen} onSort={sortBy as any} onChoose={toggle} />
    </>
  );
}
