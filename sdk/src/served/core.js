import { feature, page, start, stop } from '../core.js';

// The core as a classic script.
/** @type {any} */ (self).fieldtrie ??= { feature, page, start, stop };
