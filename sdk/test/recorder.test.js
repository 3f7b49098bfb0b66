import assert from 'node:assert/strict';
import { paint } from './browser.js';
import { check, seen } from './check.js';
import { until } from './daemon.js';
import { closeTab } from './leave.js';

/** @import { Setup } from './browser.js' */

// The flight recorder sends the last seconds after a problem, and nothing else.

/** Thresholds that no test reaches, except for tests that set their own. */
const calm = { seconds: 2, interaction: 1e5, frame: 1e5 };

/**
 * Opens a page with the recorder.
 * @param {Setup} setup
 * @param {Record<string, number>} [recorder]
 */
function record({ site, open }, recorder) {
  site.script('/app.js', () => {
    globalThis.hot = function hot() {
      return globalThis.spin(400);
    };
    globalThis.early = function early() {
      return globalThis.spin(200);
    };
    document.querySelector('button').addEventListener('click', () => globalThis.hot());
  });
  const start = { recorder: { ...calm, ...recorder } };
  return open(site.page('/recorded', { start, body: '<button>Go</button>', scripts: ['/app.js'] }));
}

/**
 * Asserts that one trace has arrived, with its reason and the time of hot().
 * @param {Setup} setup
 * @param {string} reason
 */
async function arrives({ daemon }, reason) {
  await until('a trace', () => daemon.traces());
  const profile = await daemon.profile('--page', '/recorded', '--label', `reason=${reason}`);
  seen(profile?.total('hot'), 400, 'hot');
  assert.equal(profile.coverage.traces, 1);
  assert.equal(await daemon.traces(), 1);
  return profile;
}

check('a calm page sends nothing', async (setup) => {
  const page = await record(setup);
  await page.evaluate(async () => {
    globalThis.hot();
    // Longer than seconds, so that the profilers alternate.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    globalThis.hot();
  });
  await closeTab(page);
  // A later request has arrived, so all earlier ones have arrived, too.
  await setup.open(setup.site.page('/next', { start: { sampleRate: 0, reportRate: 1 } }));
  await until('the next page view', () => setup.daemon.views('unsampled', '/next'));
  assert.equal(await setup.daemon.traces(), 0);
});

check('keep() sends the last seconds and no more', async (setup) => {
  const page = await record(setup);
  await page.evaluate(async () => {
    globalThis.early();
    await new Promise((resolve) => setTimeout(resolve, 2500));
    globalThis.hot();
    globalThis.fieldtrie.keep('asked');
    globalThis.fieldtrie.keep('once a second at most');
  });
  const profile = await arrives(setup, 'asked');
  assert.equal(profile.total('early'), 0);
  assert.ok(profile.profiled < 2300, `it has ${profile.profiled} ms`);
});

check('sent data is not sent again', async (setup) => {
  const page = await record(setup);
  await page.evaluate(async () => {
    globalThis.hot();
    globalThis.fieldtrie.keep('first');
    await new Promise((resolve) => setTimeout(resolve, 1100));
    globalThis.early();
    globalThis.fieldtrie.keep('second');
  });
  await until('two traces', async () => (await setup.daemon.traces()) == 2);
  const first = await setup.daemon.profile('--label', 'reason=first');
  const second = await setup.daemon.profile('--label', 'reason=second');
  seen(first?.total('hot'), 400, 'first');
  seen(second?.total('early'), 200, 'second');
  assert.deepEqual([first.total('early'), second.total('hot')], [0, 0]);
  assert.equal(await setup.daemon.profile('--label', 'reason='), undefined, 'all have a reason');
});

check('an error is sent', async (setup) => {
  setup.expect(/error: .*on purpose/);
  const page = await record(setup);
  await page.evaluate(() => {
    setTimeout(() => {
      globalThis.hot();
      throw new Error('on purpose');
    });
  });
  await arrives(setup, 'error');
});

check('a rejection is sent', async (setup) => {
  setup.expect(/error: .*on purpose/);
  const page = await record(setup);
  await page.evaluate(() => {
    globalThis.hot();
    Promise.reject(new Error('on purpose'));
  });
  await arrives(setup, 'error');
});

check('a long frame is sent', async (setup) => {
  const page = await record(setup, { frame: 300 });
  await page.evaluate(() => {
    setTimeout(() => globalThis.hot());
  });
  await arrives(setup, 'frame');
});

check('a slow interaction is sent', async (setup) => {
  const page = await record(setup, { interaction: 300 });
  await page.click('button');
  await paint(page);
  await arrives(setup, 'interaction');
});
