import { phases } from '../phases.js';
import { profile } from '../profile.js';
import { vitals } from '../vitals.js';

/** @import { Visit } from '../loader.js' */

/**
 * Everything that the loader defers, except for parts that load on demand.
 * @param {Visit} visit
 */
export default (visit) =>
  profile(
    visit,
    vitals,
    [phases, (of) => of.$options.stackless != false && of.$part('stackless', STACKLESS, of)],
    (of) => visit.$part('recorder', RECORDER, of),
  );
