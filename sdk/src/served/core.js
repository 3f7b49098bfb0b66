import { feature, page, start, stop } from '../core.js';

// The core as a classic script.
// An element with this id would define it, too.
if (!(/** @type {any} */ (self).fieldtrie?.start))
  /** @type {any} */ (self).fieldtrie = { feature, page, start, stop };
