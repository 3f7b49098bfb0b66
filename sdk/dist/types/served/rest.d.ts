import type { Visit } from '../loader.js';
export default _default;
/** @import { Visit } from '../loader.js' */
/**
 * Everything that the loader defers, except for parts that load on demand.
 * @param {Visit} visit
 */
declare function _default(visit: Visit): void;
