import { append, observe } from './observe.js';

/** @import { Visit } from './loader.js' */

/**
 * Makes the visit classify samples without a stack, using the long animation frames of the page:
 * https://w3c.github.io/long-animation-frames/
 *
 * Samples in a script of another host get the frame `(third-party HOST)`, samples after the start
 * of style and layout the marker layout, and samples in no long frame the marker idle: then the
 * main thread had no task over 50 ms. Markers of the browser itself are kept.
 * @param {Visit} visit
 */
export default function stackless(visit) {
  /** @type {PerformanceEntry[]} */
  const frames = [];
  const type = 'long-animation-frame';
  const flush = observe(visit, {
    [type]: (frame) => append(frames, frame, 1200), // one minute
  });
  visit.$completes.push((trace) => {
    if (!PerformanceObserver.supportedEntryTypes.includes(type)) return;
    flush();
    /** @type {Record<string, number>} */
    const stackOf = {};
    for (const sample of trace.samples) {
      if (sample.stackId != null || sample.marker) continue;
      const time = sample.timestamp;
      const over = (/** @type {PerformanceEntry} */ { startTime, duration }) => startTime + duration <= time;
      while (frames[0] && over(frames[0])) frames.shift(); // samples are nearly in order
      const frame = frames[0];
      const script = frame?.scripts?.find((script) => script.startTime <= time && !over(script));
      const host = /^https?:..([^/]+)/.exec(script?.sourceURL ?? '')?.[1];
      if (!(frame?.startTime <= time)) sample.marker = 'idle';
      else if (host && host != location.host)
        sample.stackId = stackOf[host] ??=
          trace.stacks.push({ frameId: trace.frames.push({ name: `(third-party ${host})` }) - 1 }) - 1;
      else if (!script && time >= (frame.styleAndLayoutStart || Infinity)) sample.marker = 'layout';
    }
  });
}
