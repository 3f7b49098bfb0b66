import { start as begin, visit } from '../loader.js';

/** @import { Options } from '../loader.js' */

/** The loader as the collector serves it: it loads the parts from there. */

export { keep, stop } from '../loader.js';
export { feature, page } from '../spans.js';

/**
 * Loads a part of the script from the collector. Its integrity is checked by the browser: what is
 * preloaded is what is imported.
 * @type {NonNullable<import('../loader.js').Visit['$part']>}
 */
const part = (name, integrity, then) => {
  const href = `${visit.$options.url}/${name}.mjs?${integrity}`;
  const onload = () => import(href).then(then);
  document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href, integrity, onload }));
};
visit.$part = part;

/** @param {Options} options */
export const start = (options) =>
  begin(options, (then) =>
    (self.requestIdleCallback ?? setTimeout)(() => part('rest', REST, then), { timeout: 1000 }),
  );
