import type { Visit } from './loader.js';
export default _default;
/** @import { Visit } from './loader.js' */
/**
 * Everything that the loader defers, in one file.
 * @param {Visit} visit
 */
declare function _default(visit: Visit): void;
