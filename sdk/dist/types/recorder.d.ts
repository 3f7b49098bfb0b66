import type { Profiling } from './profile.js';
export type Recorder = {
    /**
     * to keep; 10
     */
    seconds?: number;
    /**
     * threshold for the time from an input to the next paint, ms; 200
     */
    interaction?: number;
    /**
     * threshold for long animation frames, ms; 200
     */
    frame?: number;
};
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
export default function recorder({ $visit: visit, $open: open, $close: close, $go: go }: Profiling): void;
