// The calls of one page view in chronological order: script time until they are drawn, and in each
// frame during zooming and moving.

import { quantile, type Figure } from './figure.ts';
import { openFixture } from './fixture.ts';

interface Fixture {
  show(json: string): number;
  randomCalls(calls: number, seed: number): unknown;
}

declare const fixture: Fixture;

/**
 * Runs in the page: shows calls, then zooms and moves; returns script times in ms, until the first
 * drawing and by frame.
 */
async function walk(calls: number): Promise<{ drawn: number; frames: number[] }> {
  const json = JSON.stringify(fixture.randomCalls(calls, 1));
  let script = 0;
  const request = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (run) =>
    request((time) => {
      const start = performance.now();
      run(time);
      script += performance.now() - start;
    });
  const frame = () => new Promise((done) => request(() => setTimeout(done)));
  const first = fixture.show(json);
  await frame();
  await frame();
  const drawn = first + script;
  const canvas = document.querySelector('.flame-canvas')!;
  const frames: number[] = [];
  for (let i = 0; i < 120; i++) {
    script = 0;
    const start = performance.now();
    const options =
      i < 60 ? { ctrlKey: true, deltaY: i < 30 ? -20 : 20 } : { shiftKey: true, deltaX: i < 90 ? 40 : -40 };
    canvas.dispatchEvent(
      new WheelEvent('wheel', { bubbles: true, cancelable: true, clientX: 700, clientY: 500, ...options }),
    );
    await Promise.resolve().then(() => {}); // updates are drawn in microtasks
    script += performance.now() - start;
    await frame();
    frames.push(script);
  }
  return { drawn, frames };
}

/** Measures a page view with 50,000 calls. */
export async function time(): Promise<Figure[]> {
  const page = await openFixture('test/time-page.tsx');
  const { drawn, frames } = await page.evaluate(walk, 50_000);
  await page.close();
  return [
    { name: 'web/time_order_50000_script_ms', value: drawn, unit: 'ms', reach: '<= 300' },
    { name: 'web/time_order_50000_frame_p95_ms', value: quantile(frames, 0.95), unit: 'ms', reach: '<= 50' },
  ];
}
