import type { Visit } from './loader.js';
export default _default;
/** @import { Visit } from './loader.js' */
/**
 * All that the loader leaves to later, in one file.
 * @param {Visit} visit
 */
declare function _default(visit: Visit): void;
