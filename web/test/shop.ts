// A shop with two releases, of which the second is slower.

import type { Daemon, Sent } from './daemon.ts';

/** A name that would break a page that does not escape it. */
export const hostile = `</script><img src=x onerror=alert(1)>\u202e\u001b[31m${'x'.repeat(8_000)}`;

/** A trace in which draw takes this many ms of a page view, and main 20. */
export function traceOf(view: number, release: string, page: string, ms: number): Sent {
  const resources = ['https://shop.example/app.js'];
  const frames = [
    { name: 'main', resourceId: 0, line: 1, column: 10 },
    { name: 'draw', resourceId: 0, line: 7, column: 3 },
    { name: hostile, resourceId: 0, line: 9, column: 1 },
  ];
  const stacks = [{ frameId: 0 }, { frameId: 1, parentId: 0 }, { frameId: 2, parentId: 0 }];
  const samples: { timestamp: number; stackId?: number }[] = [];
  for (let at = 0; at < ms + 30; at += 10) samples.push({ timestamp: at, stackId: at < ms ? 1 : at < ms + 20 ? 0 : 2 });
  samples.push({ timestamp: ms + 30 });
  const viewId = `${release}${page}`.padEnd(12, '-') + String(view).padStart(4, '0');
  const labels = { device: view % 2 ? 'mobile-low' : 'desktop-high', browser: 'Chrome 150' };
  return { page, release, viewId, chunk: 0, interval: 10, labels, trace: { resources, frames, stacks, samples } };
}

/**
 * Sends 220 page views of a cart, which the second release made slower by 100 ms, and page views of
 * a list.
 */
export async function sendShop(daemon: Daemon): Promise<void> {
  const traces: Sent[] = [];
  for (let view = 0; view < 110; view++) {
    for (const [release, ms] of [
      ['r1', 100 + (view % 5) * 10],
      ['r2', 200 + (view % 5) * 10],
    ] as const) {
      traces.push(traceOf(view, release, '/cart', ms), traceOf(view, release, '/list', 50));
    }
  }
  await daemon.send(...traces);
}

/** A page view with two traces, a route change, a search, and a period without samples. */
export function visitOf(view: string): Sent[] {
  const traces = [
    [0, 300],
    [600, 1000],
  ].map(([from = 0, to = 0], chunk) => {
    const sent = traceOf(0, 'r1', '/visit', 0);
    const samples = [];
    for (let at = from; at <= to; at += 10)
      samples.push({ timestamp: at, stackId: at % 100 < 90 || from > 0 ? 1 : undefined });
    return { ...sent, viewId: view.padEnd(16, '-'), chunk, trace: { ...(sent.trace as object), samples } };
  });
  const spans = [
    { label: 'phase=load', start: 0, end: 300 },
    { feature: 'search', start: 50, end: 200 },
    { page: '/visit/next', start: 400, end: 2000 },
  ];
  return traces.map((sent, i) => ({ ...sent, spans: i ? spans.slice(2) : spans }));
}
