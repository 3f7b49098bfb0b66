import { Journal } from './Emitter';

export const journal = new Journal<{ scroll: number; key: string; hidden: boolean }>();

/** Adds listeners to the page. */
export function installListeners(target: Document | HTMLElement) {
  const { signal, abort } = new AbortControllerOf();
  target.addEventListener(
    'scroll',
    (event) => journal.emit('scroll', (event.target as Element).scrollTop ?? 0),
    { capture: true, passive: true, signal },
  );
  target.addEventListener('keydown', (event) => {
    journal.emit('key', (event as KeyboardEvent).key);
  }, { signal });
  addEventListener('visibilitychange', function onVisibility() {
    journal.emit('hidden', document.hidden);
  }, { signal });
  return abort;
}

class AbortControllerOf {
  #controller = new AbortController();

  get signal() {
    return this.#controller.signal;
  }

  abort = () => this.#controller.abort();
}
