import { feature, keep, page, start, stop } from './index.js';

// The classic script.
Object.assign(self, { fieldtrie: { feature, keep, page, start, stop } });
