import { filterRows } from './filter';
import { sortRows, type Order } from './sort';
import { states, type Shipment, type State } from './shipments';

export interface View {
  order: Order;
  query: string;
}

/** All shipments, and the visible ones. */
export class RowStore {
  static empty: RowStore;
  static {
    RowStore.empty = new RowStore([]);
  }

  #byId = new Map<number, Shipment>();
  #counts: Map<State, number>;
  #kept = new Map<string, Shipment[]>();
  readonly rows: readonly Shipment[];

  constructor(rows: readonly Shipment[]) {
    this.rows = rows;
    this.#counts = new Map(states.map((state) => [state, 0]));
    this.#index();
  }

  #index() {
    for (const row of this.rows) {
      this.#byId.set(row.id, row);
      this.#counts.set(row.state, this.#counts.get(row.state)! + 1);
    }
  }

  get size() {
    return this.rows.length;
  }

  get tonnes() {
    return this.rows.reduce((sum, row) => sum + row.tonnes, 0);
  }

  find(id: number) {
    return this.#byId.get(id);
  }

  *counts() {
    for (const [state, count] of this.#counts) yield { state, count };
  }

  #sorted(order: Order) {
    const key = `${order.column} ${order.down}`;
    let rows = this.#kept.get(key);
    if (!rows) this.#kept.set(key, (rows = sortRows(this.rows, order)));
    return rows;
  }

  view({ order, query }: View) {
    return filterRows(this.#sorted(order), query);
  }
}
