import assert from 'node:assert/strict';
import { paint } from './browser.js';
import { check } from './check.js';
import { until } from './daemon.js';

// The page of ingest --demo, used like by a new user.

const flags = ['--demo', '--demo-views', '0'];

check(
  'the command shown for each hot spot of the demo finds it',
  async ({ daemon, open }) => {
    const page = await open(`http://${daemon.address}/demo/`);
    assert.equal(await page.textContent('#state'), 'This page view is being profiled.');
    const commands = [];
    /** @param {string} link */
    const follow = async (link) => {
      if (link) await page.click(`nav >> text=${link}`);
      commands.push(await page.textContent('#command'));
    };
    const idle = () => page.waitForTimeout(300); // so that times of two routes are not adjacent
    await follow('');
    await page.click('button >> text=Render the feed');
    await page.click('button >> text=Load more');
    await page.waitForFunction(() => document.querySelectorAll('#items li').length > 3000);
    await follow('Search');
    await page.locator('#query').pressSequentially('title 12');
    await page.waitForSelector('#matches li');
    await follow('Layout');
    await page.click('button >> text=Move all boxes');
    await idle();
    await page.click('button >> text=Move and measure');
    await follow('Third party');
    await page.click('button >> text=Run it');
    await page.waitForFunction(() => globalThis.thirdPartyResult);
    await idle();
    await page.click('button >> text=send now');
    assert.match((await page.textContent('#state')) ?? '', /^Sent/);

    const arrived = () => daemon.views('profiled', '/demo/feed');
    await until('the trace', arrived);
    const tables = [];
    for (const command of commands) {
      const [program, ...args] = (command ?? '').split(' ');
      assert.equal(program, 'aggregate');
      assert.equal(args[args.indexOf('--addr') + 1], daemon.address);
      tables.push(await daemon.aggregate(...args));
    }
    const wanted = [
      ['renderItem', 'formatDate', 'renderFeed'],
      ['rankMatches', 'tokenize'],
      ['(layout)', 'measureBoxes'],
      [`(third-party ${new URL(daemon.collector).host})`],
    ];
    for (const [i, names] of wanted.entries())
      for (const name of names)
        for (const [j, table] of tables.entries())
          if (i == j || name != '(layout)')
            // which appears everywhere
            assert.equal(table.includes(`  ${name}`), i == j, `${name}: ${commands[j]}\n${table}`);
    const feed = await daemon.profile('--feature', 'feed');
    assert.ok(
      (feed?.total('formatDate') ?? 0) + (feed?.total('renderItem') ?? 0) > 100,
      'the feature feed has its work',
    );
    assert.ok(await daemon.profile('--feature', 'typeahead', '--label', 'theme=light'));
  },
  { flags, measures: true },
);

check(
  'the demo reports a missing header',
  async ({ daemon, open, expect }) => {
    expect(/Document policy violation/);
    const page = await open(`http://${daemon.address}/demo/`);
    await page.click('text=without the header');
    await page.waitForFunction(() => document.querySelector('#state')?.textContent?.includes('without the header'));
    await page.click('button >> text=Render the feed');
    assert.ok(await page.isDisabled('button >> text=send now'));
    await until('a report', () => daemon.views('header', '/demo/feed'));
  },
  { flags },
);

check(
  'the demo with the flight recorder sends an error',
  async ({ daemon, open, expect }) => {
    expect(/error: .*on purpose/);
    const page = await open(`http://${daemon.address}/demo/`);
    await page.click('text=with the flight recorder');
    await page.waitForFunction(() => document.querySelector('#state')?.textContent?.includes('flight recorder is on'));
    await page.click('nav >> text=Third party');
    const [program, ...args] = ((await page.textContent('#command')) ?? '').split(' ');
    assert.equal(program, 'aggregate');
    assert.ok(args.includes('reason=error'));
    // At most one trace per second is sent, which may be the slow loading of the page.
    await until('a trace of the error', async () => {
      await page.click('button >> text=Throw an error');
      await paint(page);
      return daemon.aggregate(...args);
    });
  },
  { flags },
);
