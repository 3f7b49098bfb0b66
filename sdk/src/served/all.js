import { feature, keep, page, start, stop } from '../index.js';

// Everything as a classic script.
// An element with this id would define it, too.
if (!(/** @type {any} */ (self).fieldtrie?.start))
  /** @type {any} */ (self).fieldtrie = { feature, keep, page, start, stop };
