import { feature, keep, page, start, stop } from '../index.js';

// Everything as a classic script.
/** @type {any} */ (self).fieldtrie ??= { feature, keep, page, start, stop };
