import type { Mode } from './core.js';
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
/** @import { Mode } from './core.js' */
/**
 * When the flight recorder sends what it has.
 * @typedef {object} Recorder
 * @property {number} [seconds] that are kept; 10
 * @property {number} [interaction] ms from an input to the next paint that are too many; 200
 * @property {number} [frame] ms of a long animation frame that are too many; 200
 */
/**
 * Sends what the flight recorder has, with the label `reason`. It does so no more than once a second,
 * and nothing where no flight recorder runs.
 * @type {(reason: string) => void} one of few
 */
export declare let keep: (reason: string) => void;
/**
 * Returns a mode that keeps the last seconds, and sends them when something bad happens: an
 * interaction or a long animation frame over a threshold, an error that nobody has caught, or keep().
 *
 * Two profilers overlap by half, so that the older one always holds what is asked for.
 * @param {Recorder} options
 * @returns {Mode}
 */
export declare function recorder({ seconds, interaction, frame }: Recorder): Mode;
