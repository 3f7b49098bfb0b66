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
    {
      stackless: (then) => visit.$part?.('stackless', STACKLESS, then),
      recorder: (then) => visit.$part?.('recorder', RECORDER, then),
    },
    vitals,
  );
