import { feature, page, start, stop } from './core-index.js';

// The core as a classic script.
Object.assign(self, { fieldtrie: { feature, page, start, stop } });
