import { observe } from './context.js';
import { close, open } from './core.js';
import { now } from './spans.js';

/** @import { Mode } from './core.js' */

/**
 * When the flight recorder sends what it has.
 * @typedef {object} Recorder
 * @property {number} [seconds] that are kept; 10
 * @property {number} [interaction] ms from an input to the next paint that are too many; 200
 * @property {number} [frame] ms of a long animation frame that are too many; 200
 */

/** @type {(reason: string) => void} */
let kept = () => {};

/**
 * Sends what the flight recorder has, with the label `reason`. It does so no more than once a second.
 * @param {string} reason one of few
 */
export const keep = (reason) => kept(reason);

/**
 * Returns a mode that keeps the last seconds, and sends them when something bad happens: an
 * interaction or a long animation frame over a threshold, an error that nobody has caught, or keep().
 *
 * Two profilers overlap by half, so that the older one always holds what is asked for.
 * @param {Recorder} options
 * @returns {Mode}
 */
export function recorder({ seconds = 10, interaction = 200, frame = 200 }) {
  /** @type {Profiler | undefined} */
  let older;
  /** @type {Profiler | undefined} */
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
  kept = (reason) => {
    if (!younger || now() < last + 1000) return;
    last = now();
    if (!older) turn();
    turn(reason);
  };
  const flushes = [
    observe({ type: 'event', durationThreshold: interaction }, ({ interactionId }) => interactionId && kept('interaction')),
    observe({ type: 'long-animation-frame' }, ({ duration }) => duration > frame && kept('frame')),
  ];
  for (const type of ['error', 'unhandledrejection']) addEventListener(type, () => kept('error'));

  return (on) => {
    clearInterval(timer);
    if (on) {
      turn();
      if (younger) timer = setInterval(() => turn(), seconds * 1000);
    } else {
      for (const flush of flushes) flush();
      for (const profiler of [older, younger]) if (profiler) close(profiler, Infinity);
      older = younger = undefined;
    }
  };
}
