/** The core: no flight recorder, and time without a stack is not split. */
export { start, stop } from './core.js';
export { feature, page } from './spans.js';
