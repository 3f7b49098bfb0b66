import type { Profiling } from './profile.js';
export type Recorder = {
    /**
     * that are kept; 10
     */
    seconds?: number;
    /**
     * ms from an input to the next paint that are too many; 200
     */
    interaction?: number;
    /**
     * ms of a long animation frame that are too many; 200
     */
    frame?: number;
};
/** @import { RunningProfiler } from './loader.js' */
/** @import { Profiling } from './profile.js' */
/**
 * When the flight recorder sends what it has.
 * @typedef {object} Recorder
 * @property {number} [seconds] that are kept; 10
 * @property {number} [interaction] ms from an input to the next paint that are too many; 200
 * @property {number} [frame] ms of a long animation frame that are too many; 200
 */
/**
 * Profiles in a mode that keeps the last seconds, and sends them when something bad happens: an
 * interaction or a long animation frame over a threshold, an error that nobody has caught, or keep().
 *
 * Two profilers overlap by half, so that the older one always holds what is asked for.
 * @param {Profiling} profiling
 */
export default function recorder({ $visit: visit, $open: open, $close: close, $go: go }: Profiling): void;
