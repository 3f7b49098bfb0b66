import { create } from 'zustand';
import { loadShipments } from './data/shipments';
import { RowStore } from './data/RowStore';
import type { Column, Order } from './data/sort';

interface State {
  store: RowStore;
  order: Order;
  query: string;
  chosen: ReadonlySet<number>;
  load(count: number): Promise<void>;
  sortBy(column: Column): void;
  search: (query: string) => void;
  toggle: (id: number) => void;
}

const turned = (order: Order, column: Column): Order => ({
  column,
  down: order.column == column && !order.down,
});

export const useShipments = create<State>()((set, get) => ({
  store: RowStore.empty,
  order: { column: 'id', down: false },
  query: '',
  chosen: new Set(),
  async load(count) {
    const rows = await loadShipments(count);
    set({ store: new RowStore(rows) });
  },
  sortBy(column) {
    set((state) => ({ order: turned(state.order, column) }));
  },
  search: (query) => set({ query }),
  toggle: function (id) {
    const chosen = new Set(get().chosen);
    if (!chosen.delete(id)) chosen.add(id);
    set({ chosen });
  },
}));
