// A component with what applications in TypeScript are made of.
import { useCallback, useEffect, useMemo, useState, type ReactNode } from "react";
import type { Item, Listener } from "./types";

export interface ListProps<T extends Item = Item> {
  items: readonly T[];
  render?(item: T, index: number): ReactNode;
  onSelect?: (item: T | undefined) => void;
}

type Grouped<T> = { [key in keyof T]?: T[key] extends (...args: infer A) => infer R ? [A, R] : never };

enum Mode { Plain = 1, Grouped = "a".length, Both = Plain | 4 }

declare function measure(name: string): void;

const identity = <T,>(value: T): T => value;
const pick = async <T extends object, K extends keyof T>(from: T, ...keys: K[]): Promise<Pick<T, K>> => {
  const out = {} as Pick<T, K>;
  for (const key of keys) out[key] = from[key];
  return out;
};

export abstract class Store<T extends Item> implements Iterable<T> {
  static #count = 0;
  private readonly listeners = new Set<Listener<T>>();
  protected items: T[] = [];
  declare readonly name: string;
  [key: `data-${string}`]: unknown;

  constructor(public readonly id: string, private limit = 100) {
    Store.#count++;
  }

  abstract load(): Promise<T[]>;

  find(id: string): T;
  find(id: number, strict?: boolean): T | undefined;
  find(id: string | number): T | undefined {
    return this.items.find((item): item is T => item.id === id) ?? undefined;
  }

  subscribe = (listener: Listener<T>): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  get size(): number {
    return this.items.length < this.limit ? this.items.length : this.limit;
  }

  *[Symbol.iterator](): IterableIterator<T> {
    yield* this.items;
  }
}

function assertItem(value: unknown): asserts value is Item {
  if (typeof value !== "object" || value === null) throw new TypeError(`no item: ${String(value)}`);
}

export function List<T extends Item>({ items, render = identity as never, onSelect }: ListProps<T>) {
  const [selected, setSelected] = useState<T | undefined>();
  const sorted = useMemo(() => [...items].sort((a, b) => (a.rank! < b.rank! ? -1 : 1)), [items]);
  const select = useCallback(
    (item: T) => {
      setSelected(item);
      onSelect?.(item);
    },
    [onSelect],
  );
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => (event.key === "Escape" ? setSelected(undefined) : undefined);
    window.addEventListener("keydown", onKey as EventListener);
    return () => window.removeEventListener("keydown", onKey as EventListener);
  }, []);
  return (
    <ul className="list" data-count={items.length}>
      {sorted.map((item, index) => (
        <li key={item.id} onClick={() => select(item)} aria-current={item === selected}>
          {render?.(item, index)} isn't it? <b>{`${index + 1}/${sorted.length}`}</b>
        </li>
      ))}
      <>{selected ? <button onClick={function clear() { setSelected(undefined); }}>Clear</button> : null}</>
    </ul>
  );
}

export default pick;
export { assertItem, measure, Mode };
export type { Grouped };
