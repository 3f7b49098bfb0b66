import { phases } from '../phases.js';
import { profile } from '../profile.js';
import { vitals } from '../vitals.js';

/** @import { Visit } from '../loader.js' */

/**
 * All that the loader leaves to later, but for what loads only when it is asked for.
 * @param {Visit} visit
 */
export default (visit) =>
  profile(
    visit,
    vitals,
    [phases, (of) => of.$options.stackless != false && of.$part('stackless', STACKLESS, of)],
    (of) => visit.$part('recorder', RECORDER, of),
  );
