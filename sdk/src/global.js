import { feature, keep, page, start, stop } from './index.js';

// The classic script.
Object.assign(self, {
  fieldtrie: { feature, keep: (/** @type {string} */ reason) => keep(reason), page, start, stop },
});
