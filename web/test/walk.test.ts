// Random clicks: nothing breaks, no number is missing, and each URL shows the same page again.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { Daemon, endAll, Tab } from './daemon.ts';
import { sendShop } from './shop.ts';
import { randomOf } from './synthetic.ts';

/** The number of steps and the seed: SEED=7 STEPS=1000 npm test. */
const steps = Number(process.env.STEPS ?? 30);
const seed = Number(process.env.SEED ?? 1);

after(endAll);

/** Elements to click, choose or type into. */
const targets = 'a[href]:not([target]), button, select, input, summary, canvas, [role=treegrid], tbody tr';

const texts = ['draw', '/(/', '/a|m/', '</script>', '\u202e', '', 'a'.repeat(300), '(', '99999999'];
const keys = [
  'Enter',
  'Escape',
  'ArrowDown',
  'ArrowUp',
  'ArrowLeft',
  'ArrowRight',
  'w',
  'a',
  's',
  'd',
  'c',
  'm',
  'n',
  'p',
  '/',
  '?',
  'Home',
  'End',
  'Tab',
  'Backspace',
];

/** Texts that no number, name or state may be. */
const wrong = /\b(NaN|undefined|Infinity|null)\b|\[object |\$\{/;

async function act(page: Page, target: Locator, random: () => number): Promise<string> {
  const pick = <T>(of: readonly T[]) => of[Math.floor(random() * of.length)]!;
  const tag = await target.evaluate((element) => element.tagName.toLowerCase() + (element.getAttribute('type') ?? ''));
  const timeout = 2_000;
  if (tag == 'select') {
    const values = await target.evaluate((element) =>
      [...(element as HTMLSelectElement).options].map(({ value }) => value),
    );
    const value = pick(values);
    await target.selectOption(value, { timeout });
    return `choose ${value}`;
  }
  if (/^input(search|text|number)?$/.test(tag)) {
    const text = pick(texts);
    await target.pressSequentially(text.slice(0, 20), { timeout: 10_000 });
    if (random() < 0.5) await page.keyboard.press('Enter');
    return `type ${text.slice(0, 20)}`;
  }
  const name = (await target.evaluate((element) => element.getAttribute('aria-label') ?? element.textContent ?? ''))
    .trim()
    .slice(0, 50);
  const button = random() < 0.1 ? 'right' : 'left';
  const box = (await target.boundingBox())!;
  const position = {
    x: Math.max(1, box.width * random() - 1),
    y: Math.max(1, Math.min(box.height, 300) * random() - 1),
  };
  await target.click({ timeout, button, position: tag == 'canvas' ? position : undefined });
  if (tag != 'canvas' && random() < 0.8) return `click ${name}`;
  const pressed = Array.from({ length: 3 }, () => pick(keys));
  for (const key of pressed) await page.keyboard.press(key);
  return `click ${name}, press ${pressed.join(' ')}`;
}

/** Returns the heading of the page, and its errors. */
async function look(page: Page): Promise<{ heading: string; wrong: string[] }> {
  const said = await page.locator('body').innerText();
  const lines = said.split('\n').filter((line) => wrong.test(line) && !line.includes('aggregate'));
  const heading = await page
    .locator('h1')
    .first()
    .innerText({ timeout: 5_000 })
    .catch(() => '');
  return { heading, wrong: lines };
}

test(`${steps} random steps with seed ${seed}`, async (t) => {
  const daemon = await Daemon.start();
  await sendShop(daemon);
  await daemon.sendSamples();
  const random = randomOf(seed);
  const tab = await Tab.open(
    daemon.url,
    '',
    { viewport: { width: random() < 0.3 ? 360 : 1280, height: 900 } },
    /status of 40[04]|Clipboard|clipboard/,
  );
  const { page } = tab;
  const done: string[] = [];
  const told = () => `${done.slice(-8).join('\n')}\n${page.url()}`;
  for (let step = 0; step < steps; step++) {
    const all = await page.locator(targets).filter({ visible: true }).all();
    const target = all[Math.floor(random() * all.length)];
    assert.ok(target, `there is nothing to click:\n${told()}`);
    // Something may be in front of it, or it may be gone: then another element is clicked.
    const action = await act(page, target, random).catch((error: Error) => `not done: ${error.message.split('\n')[0]}`);
    done.push(action);
    await tab.settled();
    assert.ok(page.url().startsWith(daemon.url), `it leads to another site:\n${told()}`);
    const { heading, wrong: lines } = await look(page);
    assert.notEqual(heading, '', `there is no heading:\n${told()}`);
    assert.deepEqual(lines, [], told());
    assert.deepEqual(tab.errors, [], told());
    if (step % 10 != 9) continue;
    await page.goto(page.url());
    await tab.settled();
    assert.equal((await look(page)).heading, heading, `after loading it again:\n${told()}`);
  }
  t.diagnostic(`${done.filter((one) => !one.startsWith('not done')).length} of ${steps} were possible`);
  await tab.close();
});
