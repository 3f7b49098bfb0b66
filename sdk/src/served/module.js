import { start as begin, visit } from '../loader.js';
import { guard } from '../spans.js';

/** @import { Options } from '../loader.js' */

/** The loader as served by the collector, from which it loads the parts. */

export { keep, stop } from '../loader.js';
export { feature, page } from '../spans.js';

/**
 * Loads a part of the script from the collector. The browser checks its integrity: it imports the
 * preloaded module.
 * @type {NonNullable<import('../loader.js').Visit['$part']>}
 */
visit.$part = (name, integrity, of) => {
  const href = `${visit.$options.url}/${name}.mjs?${integrity}`;
  const onerror = () => visit.$view.$profiler?.stop(); // otherwise it would run until the page is closed
  const onload = () => import(href).then((part) => part.default(of)).catch(onerror);
  // SVG documents have no head.
  const link = Object.assign(document.createElement('link'), {
    rel: 'modulepreload',
    href,
    integrity,
    onload,
    onerror,
  });
  (document.head ?? document.children[0]).append(link);
};

/** @param {Options} options */
export const start = (options) =>
  begin(options, () =>
    (self.requestIdleCallback ?? setTimeout)(
      guard(() => visit.$part('rest', REST, visit)),
      { timeout: 1000 },
    ),
  );
