import { listen, observe } from './observe.js';
import { guard, now } from './spans.js';

/** @import { RunningProfiler } from './loader.js' */
/** @import { Profiling } from './profile.js' */

/**
 * Triggers and length of the flight recorder.
 * @typedef {object} Recorder
 * @property {number} [seconds] to keep; 10
 * @property {number} [interaction] threshold for the time from an input to the next paint, ms; 200
 * @property {number} [frame] threshold for long animation frames, ms; 200
 */

/**
 * Profiles in a mode that keeps the last seconds, and sends them after a problem: an interaction or
 * a long animation frame over a threshold, an uncaught error, or keep().
 *
 * Two profilers overlap by half, so that the older one always covers the requested time.
 * @param {Profiling} profiling
 */
export default function recorder({ $visit: visit, $open: open, $close: close, $go: go }) {
  const { seconds = 10, interaction = 200, frame = 200 } = visit.$options.recorder ?? {};
  /** @type {RunningProfiler | undefined} */
  let older;
  /** @type {RunningProfiler | undefined} */
  let younger;
  /** @type {ReturnType<typeof setInterval>} */
  let timer;
  let last = -1000;

  /** @type {(reason?: string) => void} */
  const turn = (reason = '') => {
    if (older) close(older, reason ? now() - seconds * 1000 : Infinity, { reason });
    older = younger;
    younger = open(() => turn());
  };
  /** @param {string} reason */
  const keep = (reason) => {
    if (!younger || now() < last + 1000) return;
    last = now();
    if (!older) turn();
    turn(reason);
  };
  visit.$kept = guard(keep);
  const flush = observe(visit, {
    event: ({ interactionId, duration }) => interactionId && duration >= interaction && keep('interaction'),
    'long-animation-frame': ({ duration }) => duration > frame && keep('frame'),
  });
  for (const type of ['error', 'unhandledrejection']) listen(visit, type, () => keep('error'));

  go((on) => {
    clearInterval(timer);
    if (on) {
      turn();
      listen(visit, 'beforeunload', flush); // requests sent from pagehide may not arrive
      if (younger)
        timer = setInterval(
          guard(() => turn()),
          seconds * 1000,
        );
    } else {
      flush();
      for (const profiler of [older, younger]) if (profiler) close(profiler, Infinity);
      older = younger = undefined;
    }
  });
}
