// The latency of interactions with a flame graph until the result is on the screen, by Event
// Timing, which rounds to 8 ms.

import type { Page } from 'playwright-core';
import { quantile, type Figure } from './figure.ts';
import { openFlame, show } from './flame.ts';

/** The minimum duration that Event Timing reports, in ms. Faster events count as this much. */
const threshold = 16;

/**
 * Returns the durations of events of these types, in ms, during an action with this many
 * interactions.
 */
async function durations(page: Page, types: string[], act: () => Promise<number>): Promise<number[]> {
  await page.evaluate(
    ([names, least]) => {
      const seen = new Map<number, number>();
      const observer = new PerformanceObserver((list) => {
        for (const entry of list.getEntries() as (PerformanceEntry & { interactionId?: number })[]) {
          if (!names.includes(entry.name)) continue;
          const key = entry.interactionId || entry.startTime;
          seen.set(key, Math.max(seen.get(key) ?? 0, entry.duration));
        }
      });
      observer.observe({ type: 'event', durationThreshold: least } as PerformanceObserverInit);
      Object.assign(globalThis, { measured: () => (observer.disconnect(), [...seen.values()]) });
    },
    [types, threshold] as const,
  );
  const interactions = await act();
  await page.waitForTimeout(300);
  const slow = (await page.evaluate('measured()')) as number[];
  return [...slow, ...new Array<number>(Math.max(0, interactions - slow.length)).fill(threshold)];
}

/** Measures pointing, zooming and searching in a tree of 50,000 nodes, in this many rounds. */
export async function interaction(rounds: number): Promise<Figure[]> {
  const page = await openFlame(50_000);
  await show(page);
  const box = (await page.locator('canvas').boundingBox())!;
  const x = (part: number) => box.x + part * box.width;
  const hover = await durations(page, ['pointermove', 'mousemove', 'pointerover', 'mouseover'], async () => {
    for (let i = 0; i < 24 * rounds; i++) {
      await page.mouse.move(x((i * 0.37) % 1), box.y + 10 + ((i * 47) % (box.height - 20)));
      await page.waitForTimeout(20);
    }
    return 24 * rounds;
  });
  const zoom = await durations(page, ['click', 'keydown'], async () => {
    for (let i = 0; i < 4 * rounds; i++) {
      await page.mouse.click(x(0.2 + (i % 7) / 10), box.y + 30 + (i % 9) * 20);
      await page.waitForTimeout(320); // otherwise the next click would make it a double click
      await page.keyboard.press('Escape');
      await page.waitForTimeout(60);
    }
    return 8 * rounds;
  });
  await page.locator('input[type=search]').focus();
  const words = ['sortrow', 'parse', 'commit', 'Cell'];
  const search = await durations(page, ['keydown', 'keypress', 'input'], async () => {
    for (const word of words) {
      await page.fill('input[type=search]', '');
      for (const letter of word) {
        await page.keyboard.press(letter);
        await page.waitForTimeout(80);
      }
    }
    return words.join('').length;
  });
  await page.close();
  return Object.entries({ hover, zoom, search }).map(([name, values]) => ({
    name: `web/${name}_50000_p95_ms`,
    value: quantile(values, 0.95),
    unit: 'ms',
    reach: '<= 50',
  }));
}
