import { Component, type ReactNode } from 'react';
import { useParams } from 'react-router';
import formatTonnes, { formatDay, formatMoney } from '../lib/format';
import { useShipments } from '../state';

/** Shows errors of its children. */
class Guard extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override componentDidCatch = (error: Error) => console.warn(error.message);

  get #message() {
    return this.state.error?.message;
  }

  override render() {
    return this.state.error ? <p role="alert">{this.#message}</p> : this.props.children;
  }
}

function Fields({ id }: { id: number }) {
  const shipment = useShipments((state) => state.store.find(id));
  if (!shipment) throw new Error(`no shipment ${id}`);
  const entries = Object.entries({
    ship: shipment.ship,
    route: `${shipment.from} – ${shipment.to}`,
    load: formatTonnes(shipment.tonnes),
    price: formatMoney(shipment.price),
    leaves: formatDay(shipment.leaves),
  });
  return (
    <dl>
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export default () => {
  const { id } = useParams();
  return (
    <Guard>
      <Fields id={Number(id)} />
    </Guard>
  );
};
