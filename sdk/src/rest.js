import { phases } from './phases.js';
import { profile } from './profile.js';
import recorder from './recorder.js';
import stackless from './stackless.js';
import { vitals } from './vitals.js';

/** @import { Visit } from './loader.js' */

/**
 * Everything that the loader defers, in one file.
 * @param {Visit} visit
 */
export default (visit) =>
  profile(visit, vitals, [phases, (of) => of.$options.stackless != false && stackless(of)], recorder);
