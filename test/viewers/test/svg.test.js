import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { open } from './browser.js';
import { expected, path } from './outputs.js';

/** The folder for pictures to look at; without it, none are made. */
const pictures = process.env.PICTURES;

/**
 * Opens a chart.
 * @param {string} name
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
async function chart(name, options = { viewport: { width: 1200, height: 800 } }) {
  const { page, problems } = await open(options);
  await page.goto(pathToFileURL(path(name)).href);
  return {
    page,
    /** All frames: their names, positions and texts. */
    frames: () =>
      page.evaluate(() =>
        [...document.querySelectorAll('.frame')].map((f) => {
          const box = f.querySelector('rect').getBoundingClientRect();
          const text = f.querySelector('text');
          return {
            name: f.querySelector('title').textContent.split('\n')[0],
            title: f.querySelector('title').textContent,
            shown: f.style.display !== 'none',
            text: text?.textContent ?? '',
            textWidth: text?.getComputedTextLength() ?? 0,
            found: f.classList.contains('found'),
            x: box.x,
            y: box.y,
            width: box.width,
          };
        }),
      ),
    async close() {
      assert.deepEqual(problems, []);
      await page.context().close();
    },
  };
}

test('frames are within their callers and as wide as their totals', async () => {
  const { frames, close } = await chart('merged.svg');
  const all = await frames();
  assert.ok(all.length > 300, `${all.length} frames`);
  const stack = [];
  for (const frame of all) {
    while (stack.length && stack.at(-1).y >= frame.y) stack.pop();
    const caller = stack.at(-1);
    if (caller) {
      assert.ok(frame.x >= caller.x - 0.01 && frame.x + frame.width <= caller.x + caller.width + 0.01, frame.title);
      assert.equal(frame.y, caller.y + 18);
    }
    stack.push(frame);
    const ms = +frame.title.match(/([\d.]+) ms \(/)[1];
    assert.ok(Math.abs(frame.width - (1200 * ms * 1000) / expected.self) < 0.05, frame.title);
  }
  await close();
});

test('names fit their frames at every width', async () => {
  for (const width of [1200, 380]) {
    const { page, frames, close } = await chart('merged.svg', { viewport: { width, height: 800 } });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, 'nothing overflows');
    for (const frame of await frames())
      assert.ok(frame.textWidth <= frame.width, `${width}: ${frame.name} ${frame.textWidth} in ${frame.width}`);
    await close();
  }
});

test('a click zooms, Escape and the button undo it', async () => {
  const { page, frames, close } = await chart('merged.svg');
  const before = await frames();
  const at = before.findIndex((frame) => frame.width > 60 && frame.width < 300);
  const target = before[at];
  await page.mouse.click(target.x + target.width / 2, target.y + 9);
  let zoomed = await frames();
  assert.equal(zoomed[at].x, 0);
  assert.equal(zoomed[at].width, 1200);
  assert.ok(
    zoomed.some((frame) => !frame.shown),
    'the rest is hidden',
  );
  for (const frame of zoomed.filter((f) => f.shown)) {
    assert.ok(frame.x >= -0.1 && frame.x + frame.width <= 1200.1, frame.title);
    assert.ok(frame.textWidth <= frame.width, frame.title);
  }
  assert.ok(zoomed.filter((f) => f.text).length > 0);
  await page.keyboard.press('Escape');
  assert.deepEqual(
    (await frames()).map((f) => f.width),
    before.map((f) => f.width),
  );
  await page.mouse.click(target.x + target.width / 2, target.y + 9);
  await page.click('#reset');
  assert.deepEqual(
    (await frames()).map((f) => f.x),
    before.map((f) => f.x),
  );
  assert.ok(await page.isDisabled('#reset'));
  await close();
});

test('everything can be done with keys', async () => {
  const { page, frames, close } = await chart('merged.svg');
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      return element.matches('.frame') ? element.querySelector('title').textContent.split('\n')[0] : element.id;
    });
  await page.keyboard.press('Tab'); // the document itself, which can be scrolled
  await page.keyboard.press('Tab');
  assert.equal(await focused(), 'search');
  await page.keyboard.press('Tab'); // the button is disabled, so the chart is next
  assert.equal(await focused(), '/feed');
  await page.keyboard.press('ArrowDown');
  const first = await focused();
  await page.keyboard.press('ArrowRight');
  assert.notEqual(await focused(), '/feed');
  await page.keyboard.press('ArrowLeft');
  assert.equal(await focused(), first);
  await page.keyboard.press('Enter');
  assert.equal((await frames())[1].width, 1200);
  await page.keyboard.press('Escape');
  assert.ok((await frames())[1].width < 1200);
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), '/feed');
  await close();
});

test('a search marks frames and shows their share', async () => {
  const { page, frames, close } = await chart('merged.svg');
  await page.keyboard.press('Control+f');
  await page.keyboard.type('forcelayout');
  const found = (await frames()).filter((frame) => frame.found);
  assert.ok(found.length > 0 && found.every((frame) => frame.title.includes('forceLayout')));
  const share = (100 * found.reduce((sum, frame) => sum + frame.width, 0)) / 1200;
  const said = await page.textContent('#result');
  assert.ok(Math.abs(parseFloat(said) - share) < 0.06, `${said}, want ${share}`);
  await page.keyboard.press('Escape');
  assert.equal((await frames()).filter((frame) => frame.found).length, 0);
  await page.keyboard.type('no such function');
  assert.equal(await page.textContent('#result'), 'not found');
  await close();
});

test('hostile names remain text', async () => {
  const { page, frames, close } = await chart('hostile.svg');
  const all = await frames();
  assert.equal(await page.evaluate(() => globalThis.broken), undefined);
  assert.equal(all.length, 10);
  assert.ok(all.some((frame) => frame.name === '</title></svg><script>window.broken = 1</script>'));
  assert.ok(all.some((frame) => frame.name.startsWith('longlong') && frame.name.length < 250));
  assert.ok(all.every((frame) => !/[\u0000-\u0008\u000b-\u001f]/.test(frame.title)));
  await close();
});

test('a comparison shows the size of changes', async () => {
  const { page, frames, close } = await chart('compared.svg');
  const head = await page.textContent('.head');
  const ms = (text) => +head.match(text)[1];
  const more = ms(/more self time than before: \+([\d.]+) ms/);
  const less = ms(/less: (-[\d.]+) ms/);
  const gone = ms(/not drawn: (-[\d.]+) ms/);
  assert.ok(Math.abs(more + less + gone - (expected.self - expected.baseSelf) / 1000) < 0.2, head);
  assert.ok((await frames()).slice(1).every((frame) => /before [\d.]+ ms/.test(frame.title)));
  await close();
});

for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  test(`text is legible in the ${colorScheme} scheme`, async () => {
    for (const name of ['merged.svg', 'compared.svg']) {
      const { page, close } = await chart(name, { viewport: { width: 1200, height: 800 }, colorScheme });
      const worst = await page.evaluate(() => {
        const luminance = (color) => {
          const [r, g, b] = color
            .match(/[\d.]+/g)
            .slice(0, 3)
            .map((v) => {
              const c = v / 255;
              return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
            });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const contrasts = [...document.querySelectorAll('.frame')]
          .filter((f) => f.querySelector('text'))
          .map((f) => {
            const [a, b] = ['rect', 'text']
              .map((part) => luminance(getComputedStyle(f.querySelector(part)).fill))
              .sort((x, y) => y - x);
            return (a + 0.05) / (b + 0.05);
          });
        return Math.min(...contrasts);
      });
      assert.ok(worst >= 4.5, `${name}: contrast ${worst}`);
      await close();
    }
  });
}

test('pictures for people', { skip: !pictures && 'PICTURES names no folder' }, async () => {
  mkdirSync(pictures, { recursive: true });
  for (const name of ['merged', 'compared', 'hostile']) {
    for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
      for (const width of [1200, 380]) {
        const { page, close } = await chart(`${name}.svg`, { viewport: { width, height: 700 }, colorScheme });
        await page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${width}.png`) });
        await page.fill('#search', 'run');
        await page.mouse.move(width / 2, 300);
        await page.screenshot({ path: join(pictures, `${name}-${colorScheme}-${width}-found.png`) });
        await close();
      }
    }
  }
});
