import assert from 'node:assert/strict';
import { stop } from './browser.js';
import { check, seen } from './check.js';
import { until } from './daemon.js';

// Each query returns only its own part of the time.

check('routes and features each have their own time', async ({ daemon, site, open }) => {
  site.script('/app.js', () => {
    const { feature, page } = globalThis.fieldtrie;
    const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
    // Separate functions, because each needs its own name.
    const work = {
      onFeed: function onFeed() {
        return globalThis.spin(200);
      },
      onSearch: function onSearch() {
        return globalThis.spin(200);
      },
      onUser: function onUser() {
        return globalThis.spin(200);
      },
      inSync: function inSync() {
        return globalThis.spin(200);
      },
      inSpan: function inSpan() {
        return globalThis.spin(200);
      },
      inPromise: function inPromise() {
        return globalThis.spin(200);
      },
      betweenAwaits: function betweenAwaits() {
        return globalThis.spin(200);
      },
    };
    globalThis.run = async () => {
      work.onFeed();
      await pause();
      const returned = feature('sync', work.inSync);
      await pause();
      history.pushState(null, '', '/search');
      work.onSearch();
      await pause();
      const span = feature('span');
      work.inSpan();
      span.end();
      await pause();
      span.end(); // it has ended, so this changes nothing
      await feature('promise', () => pause().then(work.inPromise));
      await pause();
      await feature('async', async () => {
        await pause();
        work.betweenAwaits();
        await pause();
      });
      await pause();
      history.pushState(null, '', '/user/anna');
      page('/user/:name');
      work.onUser();
      await pause();
      const failed = [];
      try {
        feature('throws', () => null.x);
      } catch ({ name }) {
        failed.push(name);
      }
      await feature('rejects', () => Promise.reject(new RangeError())).catch(({ name }) => failed.push(name));
      return { returned, failed };
    };
  });
  const page = await open(site.page('/feed', { scripts: ['/app.js'] }));
  const { returned, failed } = await page.evaluate(() => globalThis.run());
  assert.ok(returned >= 200, 'feature() returns what the function returns');
  assert.deepEqual(failed, ['TypeError', 'RangeError']);
  await stop(page);
  await until('a trace', () => daemon.traces());

  const names = ['onFeed', 'onSearch', 'onUser', 'inSync', 'inSpan', 'inPromise', 'betweenAwaits'];
  for (const [query, ...own] of [
    ['--page /feed', 'onFeed', 'inSync'],
    ['--page /search', 'onSearch', 'inSpan', 'inPromise', 'betweenAwaits'],
    ['--page /user/:name', 'onUser'],
    ['--feature sync', 'inSync'],
    ['--feature span', 'inSpan'],
    ['--feature promise', 'inPromise'],
    ['--feature async', 'betweenAwaits'],
    ['--page /feed --feature sync', 'inSync'],
  ]) {
    const profile = await daemon.profile(...query.split(' '));
    for (const name of names)
      if (own.includes(name)) seen(profile?.total(name), 200, `${query}: ${name}`);
      else assert.equal(profile?.total(name), 0, `${query}: ${name}`);
  }
  assert.equal(await daemon.profile('--page', '/search', '--feature', 'sync'), undefined);
  assert.deepEqual(Object.keys(await daemon.pages()).sort(), ['/feed', '/search', '/user/:name']);
});

// The SDK drops the oldest of very many spans, but must keep the span of the page.
check('many features do not move time to another page', async ({ daemon, site, open }) => {
  site.script('/app.js', () => {
    const { feature } = globalThis.fieldtrie;
    function onFirst() {
      globalThis.spin(400);
    }
    function onSecond() {
      globalThis.spin(400);
    }
    globalThis.run = async () => {
      for (let i = 0; i < 900; i++) feature('tick').end();
      onFirst();
      await new Promise((resolve) => setTimeout(resolve, 100));
      history.pushState(null, '', '/second');
      onSecond();
    };
  });
  const page = await open(site.page('/first', { scripts: ['/app.js'] }));
  await page.evaluate(() => globalThis.run());
  await stop(page);
  await until('a trace', () => daemon.traces());
  const first = await daemon.profile('--page', '/first');
  const second = await daemon.profile('--page', '/second');
  assert.deepEqual(
    [first?.total('onFirst') > 20, first?.total('onSecond'), second?.total('onFirst'), second?.total('onSecond') > 20],
    [true, 0, 0, true],
  );
});

check('labels tell in which phase, browser and device the time was spent', async ({ daemon, site, open }) => {
  site.script('/app.js', () => {
    function whileLoading() {
      globalThis.spin(200);
    }
    globalThis.later = function later() {
      return globalThis.spin(200);
    };
    whileLoading();
    setTimeout(() => (globalThis.late = true), 2500); // load lasts until 2 s after the load event
  });
  const start = { labels: { variant: 'b', empty: '', missing: null }, release: '1.2.3', environment: 'testing' };
  const page = await open(site.page('/labels', { start, scripts: ['/app.js'] }));
  await page.waitForFunction(() => globalThis.late);
  await page.evaluate(() => globalThis.later());
  await stop(page);
  await until('a trace', () => daemon.traces());
  const version = page.context().browser()?.version().split('.')[0];
  for (const [label, whileLoading, later] of [
    ['phase=load', true, false],
    ['phase=idle', false, true],
    [`browser=Chrome ${version}`, true, true],
    ['navigation=navigate', true, true],
    ['variant=b', true, true],
    ['environment=testing', true, true],
  ]) {
    const profile = await daemon.profile('--page', '/labels', '--label', label);
    assert.ok(profile, `no profile with ${label}`);
    assert.deepEqual([profile.total('whileLoading') > 20, profile.total('later') > 20], [whileLoading, later], label);
  }
  assert.ok(await daemon.profile('--release', '1.2.3'), 'no profile of the release');
  const devices = ['low', 'mid', 'high'].map((size) => daemon.profile('--label', `device=desktop-${size}`));
  assert.equal((await Promise.all(devices)).filter(Boolean).length, 1, 'there is a label for the device');
  assert.equal(await daemon.profile('--label', 'variant=a'), undefined);
});

check('traces contain the cost of profiling', async ({ daemon, site, open }) => {
  const page = await open(site.page('/cost'));
  await page.evaluate(() => globalThis.spin(200));
  await stop(page);
  await until('a trace', () => daemon.traces());
  for (const work of ['start', 'stop', 'encode']) {
    const seconds = await daemon.metric(`fieldtrie_sdk_seconds_total{work="${work}"}`);
    assert.ok(seconds > 0 && seconds < 0.5, `${work}: ${seconds} s`);
  }
  assert.ok((await daemon.metric('fieldtrie_sdk_profiled_seconds_total')) > 0.2);
});
