import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endAfter, within } from '../../test/chromium/limits.mjs';
import { Setup, closeBrowser } from './browser.js';

/** Whether tests are long and compare times: LONG=1 on a quiet machine, as in make nightly. */
export const long = Boolean(process.env.LONG);

if (!long) endAfter(15 * 60_000);
after(async () => {
  endAfter(60_000);
  await closeBrowser();
});

/**
 * Runs the body of a test with everything set up.
 * @param {(setup: Setup) => Promise<void>} body
 * @param {number} time limit in ms
 * @param {string[]} [flags] of the daemon
 */
async function run(body, time, flags) {
  const setup = await within(time, 'the set-up', Setup.start(flags));
  try {
    await within(time, 'the test', body(setup));
  } catch (error) {
    if (setup.problems.length) console.error(setup.problems.join('\n'));
    throw error;
  } finally {
    await setup.close();
  }
  assert.deepEqual(setup.problems, []);
}

/**
 * A test with everything set up. It fails on any unexpected error in a page.
 * @param {string} name
 * @param {(setup: Setup) => Promise<void>} body
 * @param {object} [options]
 * @param {string[]} [options.flags] of the daemon
 * @param {string} [options.todo] why it fails for now
 * @param {boolean} [options.measures] whether it compares times, which fails if other processes use
 *   the processor
 * @param {number} [options.time] limit of each try in ms
 * @param {number} [options.tries] maximum number of tries: on a busy machine, a measurement can be
 *   wrong by chance; with a bug, all of them are
 */
export function check(name, body, { flags, todo, measures, tries = todo ? 1 : 3, time = 90_000 } = {}) {
  const skip = measures && !long && 'it measures time on a quiet machine: LONG=1, which make nightly has';
  test(name, { skip, todo }, async () => {
    for (;;)
      try {
        return await run(body, time, flags);
      } catch (error) {
        if (!--tries) throw error;
        console.error(`tries again: ${name}: ${error.message}`);
      }
  });
}

/**
 * Asserts that a time is as expected.
 * @param {number} got in ms
 * @param {number} want
 * @param {number} share tolerance
 * @param {string} what
 * @param {number} [unsampled] ms that may be missing: on a busy machine the browser skips samples
 */
export function near(got, want, share, what, unsampled = 0) {
  const fits = got >= want * (1 - share) - unsampled && got <= want * (1 + share);
  const note = `${what}: got ${got.toFixed(1)} ms, want ${want.toFixed(1)} ms within ${share * 100} %`;
  assert.ok(fits, `${note}; ${unsampled.toFixed(1)} ms are not sampled`);
}

/**
 * Asserts that the time of work is as expected: with LONG within a tolerance, and otherwise only
 * that it is present, because other processes use the processor, too.
 * @param {number} got in ms
 * @param {number} want
 * @param {number} share tolerance
 * @param {string} what
 * @param {number} [unsampled] ms that may be missing
 */
export function took(got, want, share, what, unsampled = 0) {
  if (long) near(got, want, share, what, unsampled);
  else seen(got, want, what);
}

/**
 * Asserts that work is present, in tests that are not about its time. On a busy machine the browser
 * may take no samples for a while.
 * @param {number | undefined} got in ms
 * @param {number} want
 * @param {string} what
 */
export function seen(got, want, what) {
  assert.ok(got && got > want * 0.1 && got < want * 1.5, `${what}: got ${got} ms of ${want} ms`);
}
