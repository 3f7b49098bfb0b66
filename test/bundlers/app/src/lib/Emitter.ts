type Listener<E> = (event: E) => void;

/** Emits events to listeners, in order of subscription. */
export class Emitter<Events extends Record<string, unknown>> {
  #listeners: { [K in keyof Events]?: Set<Listener<Events[K]>> } = {};

  on<K extends keyof Events>(type: K, listener: Listener<Events[K]>) {
    const listeners = (this.#listeners[type] ??= new Set());
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  emit<K extends keyof Events>(type: K, event: Events[K]) {
    this.#listeners[type]?.forEach((listener) => listener(event));
  }
}

/** An emitter that also shows its events in a list of the page. */
export class Journal<Events extends Record<string, unknown>> extends Emitter<Events> {
  readonly entries: string[] = [];

  override emit<K extends keyof Events>(type: K, event: Events[K]) {
    this.entries.push(`${String(type)} ${JSON.stringify(event)}`);
    super.emit(type, event);
  }
}
