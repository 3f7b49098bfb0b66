import { memo, useMemo, useState } from 'react';
import type { Shipment } from '../data/shipments';
import { totals, trend, type Total } from '../data/totals';
import formatTonnes, { formatMoney } from '../lib/format';
import { useShipments } from '../state';

const keys: Record<string, (row: Shipment) => string> = {
  port: (row) => row.from,
  route: (row) => `${row.from} – ${row.to}`,
  month: ({ leaves }) => new Date(leaves).toISOString().slice(0, 7),
  state(row) {
    return row.state;
  },
};

const TotalsTable = memo(function TotalsTable({ totals }: { totals: readonly Total[] }) {
  return (
    <table>
      <tbody>
        {totals.map(({ key, tonnes, price, median }) => (
          <tr key={key}>
            <td>{key}</td>
            <td>{formatTonnes(tonnes)}</td>
            <td>{formatMoney(price)}</td>
            <td>{formatMoney(median)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
});

const path = (values: ArrayLike<number>, width: number, height: number) => {
  const most = Math.max(...Array.from(values), 1);
  return Array.from(values, (value, i) => `${((i * width) / values.length).toFixed(1)},${(height - (value / most) * height).toFixed(1)}`).join(' L');
};

export function Trend({ rows }: { rows: readonly Shipment[] }) {
  const line = useMemo(() => 'M' + path(trend(rows), 600, 120), [rows]);
  return (
    <svg width="600" height="120">
      <path d={line} fill="none" stroke="navy" />
    </svg>
  );
}

export default function Report() {
  const store = useShipments((state) => state.store);
  const [key, setKey] = useState('port');
  const groups = useMemo(() => totals(store.rows, keys[key]!), [store, key]);
  return (
    <section>
      {Object.keys(keys).map((name) => (
        <button key={name} data-key={name} disabled={name == key} onClick={() => setKey(name)}>
          by {name}
        </button>
      ))}
      <p>
        {store.size} shipments, {formatTonnes(store.tonnes)}:{' '}
        {Array.from(store.counts(), ({ state, count }) => `${count} ${state}`).join(', ')}
      </p>
      <Trend rows={store.rows} />
      <TotalsTable totals={groups} />
    </section>
  );
}
