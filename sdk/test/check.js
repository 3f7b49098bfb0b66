import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Setup, closeBrowser, missing } from './browser.js';

after(closeBrowser);

/**
 * A test with everything set up. It fails on any error in a page that it does not expect.
 * @param {string} name
 * @param {(setup: Setup) => Promise<void>} body
 * @param {object} [options]
 * @param {string[]} [options.flags] of the daemon
 * @param {string} [options.todo] why it fails as yet
 */
export function check(name, body, { flags, todo } = {}) {
  test(name, { skip: missing, todo, timeout: 60000 }, async () => {
    const setup = await Setup.start(flags);
    try {
      await body(setup);
    } catch (error) {
      if (setup.problems.length) console.error(setup.problems.join('\n'));
      throw error;
    } finally {
      await setup.close();
    }
    assert.deepEqual(setup.problems, []);
  });
}

/**
 * Asserts that a time is as expected.
 * @param {number} got in ms
 * @param {number} want
 * @param {number} share that it may be off
 * @param {string} what
 */
export function near(got, want, share, what) {
  const off = Math.abs(got - want) / want;
  assert.ok(
    off <= share,
    `${what}: got ${got.toFixed(1)} ms, want ${want.toFixed(1)} ms, ${(off * 100).toFixed(1)} % off`,
  );
}
