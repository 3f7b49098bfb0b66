import { profile } from './profile.js';
import recorder from './recorder.js';
import stackless from './stackless.js';
import { vitals } from './vitals.js';

/** @import { Visit } from './loader.js' */

/**
 * All that the loader leaves to later, in one file.
 * @param {Visit} visit
 */
export default (visit) =>
  profile(
    visit,
    { stackless: (then) => then({ default: stackless }), recorder: (then) => then({ default: recorder }) },
    vitals,
  );
