import { feature, keep, page, start, stop } from './module.js';

// The loader as a classic script.
/** @type {any} */ (self).fieldtrie ??= { feature, keep, page, start, stop };
