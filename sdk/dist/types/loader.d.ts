import type { ProfilerTrace, Span } from './encodeTrace.js';
import type { Recorder } from './recorder.js';
export type Options = {
    /**
     * the collector, such as "https://profiles.example.com"
     */
    url: string;
    /**
     * write key, if the collector needs one
     */
    key?: string;
    /**
     * version of the site
     */
    release?: string;
    /**
     * such as "production"
     */
    environment?: string;
    /**
     * name of the page, or a function that
     * returns it for a path; by default the path itself
     */
    page?: string | ((path: string) => string);
    /**
     * share of the page views to profile, 0 to 1; ignored if the server
     * has decided, see docs/sdk.md
     */
    sampleRate?: number;
    /**
     * the share with which the server selected this page view, 0 if not
     * selected; for documents without Server-Timing
     */
    decided?: number;
    /**
     * ms between samples; 10
     */
    sampleInterval?: number;
    /**
     * further labels, with few values each; empty ones are
     * skipped
     */
    labels?: Record<string, unknown>;
    /**
     * profile repeatedly for `length` ms, at most
     * 60,000, with gaps of `gap` ms on average, instead of continuously
     */
    windows?: {
        length: number;
        gap: number;
    };
    /**
     * share of the main thread's time above which the SDK disables itself;
     * 0.005
     */
    maxCost?: number;
    /**
     * share of the unselected page views that report this, with their
     * Web Vitals; 0.01
     */
    reportRate?: number;
    /**
     * do not profile visitors whose browser sends Global Privacy
     * Control, and do not collect their Web Vitals
     */
    honourGPC?: boolean;
    /**
     * select page views without profiling them, for the A/A test of
     * `aggregate --cost`
     */
    dryRun?: boolean;
    /**
     * false disables the classification of time without a stack
     */
    stackless?: boolean;
    /**
     * keep the last seconds, and send them when a problem occurs; not
     * in the core
     */
    recorder?: Recorder;
};
export type Visit = {
    $options: Options;
    /**
     * the current one
     */
    $view: View;
    /**
     * loads a part from the
     * collector that served the script, and calls it with `of`; the integrity also identifies the
     * version, for caches
     */
    $part: (name: string, integrity: string, of: any) => void;
    /**
     * add data to a trace before it
     * is encoded
     */
    $completes: ((trace: ProfilerTrace, of: View) => void)[];
    /**
     * the largest contentful paint of the document, ms; 0: none yet
     */
    $lcp?: () => number;
    /**
     * keep() of the flight recorder
     */
    $kept?: (reason: string) => void;
    /**
     * stop() was called
     */
    $over?: boolean;
    /**
     * starts the page view of a restored
     * document
     */
    $restored: (event: PageTransitionEvent) => void;
    /**
     * for all listeners and observers, as options of listeners
     */
    $stop: AbortController;
    /**
     * adds each listener again, by its function
     */
    $listens: Map<Function, () => void>;
    /**
     * handles a page view; the first call loads all other parts
     */
    $begin: () => void;
};
export type RunningProfiler = EventTarget & {
    stop(): Promise<ProfilerTrace>;
    readonly sampleInterval: number;
};
export type View = {
    /**
     * the page view is selected if this is below the rate
     */
    $draw: number;
    /**
     * the rate: share of the page views to profile
     */
    $top: number;
    /**
     * the visitor opted out
     */
    $refused?: boolean;
    /**
     * the event that started it; missing if the document was
     * loaded
     */
    $event?: PageTransitionEvent;
    /**
     * started by the loader
     */
    $profiler?: RunningProfiler;
    /**
     * why it was not started
     */
    $problem?: any;
    /**
     * start of the page view, ms
     */
    $begun: number;
    /**
     * start of the profiler, ms
     */
    $started: number;
    /**
     * set after the other parts are loaded
     */
    $viewId: Uint8Array<ArrayBuffer>;
    /**
     * number of its traces
     */
    $chunk: number;
    /**
     * its first page
     */
    $shown: Span;
    /**
     * its labels
     */
    $known: Record<string, unknown>;
    /**
     * the rate that the server requested in an earlier one
     */
    $told?: string;
    /**
     * whether it was selected, even if the server has lowered the rate
     */
    $chosen: boolean;
    /**
     * number of page views that its report stands for
     */
    weight: number;
    /**
     * it is profiled, and will send a trace
     */
    $sends?: boolean;
    /**
     * why profiling stopped early
     */
    stopped?: string;
};
/** @import { ProfilerTrace, Span } from './encodeTrace.js' */
/** @import { Recorder } from './recorder.js' */
/**
 * @typedef {object} Options
 * @property {string} url the collector, such as "https://profiles.example.com"
 * @property {string} [key] write key, if the collector needs one
 * @property {string} [release] version of the site
 * @property {string} [environment] such as "production"
 * @property {string | ((path: string) => string)} [page] name of the page, or a function that
 *   returns it for a path; by default the path itself
 * @property {number} [sampleRate] share of the page views to profile, 0 to 1; ignored if the server
 *   has decided, see docs/sdk.md
 * @property {number} [decided] the share with which the server selected this page view, 0 if not
 *   selected; for documents without Server-Timing
 * @property {number} [sampleInterval] ms between samples; 10
 * @property {Record<string, unknown>} [labels] further labels, with few values each; empty ones are
 *   skipped
 * @property {{length: number, gap: number}} [windows] profile repeatedly for `length` ms, at most
 *   60,000, with gaps of `gap` ms on average, instead of continuously
 * @property {number} [maxCost] share of the main thread's time above which the SDK disables itself;
 *   0.005
 * @property {number} [reportRate] share of the unselected page views that report this, with their
 *   Web Vitals; 0.01
 * @property {boolean} [honourGPC] do not profile visitors whose browser sends Global Privacy
 *   Control, and do not collect their Web Vitals
 * @property {boolean} [dryRun] select page views without profiling them, for the A/A test of
 *   `aggregate --cost`
 * @property {boolean} [stackless] false disables the classification of time without a stack
 * @property {Recorder} [recorder] keep the last seconds, and send them when a problem occurs; not
 *   in the core
 */
/**
 * State of the loader that later parts share.
 * @typedef {object} Visit
 * @property {Options} $options
 * @property {View} $view the current one
 * @property {(name: string, integrity: string, of: any) => void} $part loads a part from the
 *   collector that served the script, and calls it with `of`; the integrity also identifies the
 *   version, for caches
 * @property {((trace: ProfilerTrace, of: View) => void)[]} $completes add data to a trace before it
 *   is encoded
 * @property {() => number} [$lcp] the largest contentful paint of the document, ms; 0: none yet
 * @property {(reason: string) => void} [$kept] keep() of the flight recorder
 * @property {boolean} [$over] stop() was called
 * @property {(event: PageTransitionEvent) => void} $restored starts the page view of a restored
 *   document
 * @property {AbortController} $stop for all listeners and observers, as options of listeners
 * @property {Map<Function, () => void>} $listens adds each listener again, by its function
 * @property {() => void} $begin handles a page view; the first call loads all other parts
 */
/**
 * A running profiler, see https://wicg.github.io/js-self-profiling/.
 * @typedef {EventTarget & {stop(): Promise<ProfilerTrace>, readonly sampleInterval: number}}
 *   RunningProfiler
 */
/**
 * A page view. Its trace may arrive after the next one has started, when the document returns from
 * the back/forward cache.
 * @typedef {object} View
 * @property {number} $draw the page view is selected if this is below the rate
 * @property {number} $top the rate: share of the page views to profile
 * @property {boolean} [$refused] the visitor opted out
 * @property {PageTransitionEvent} [$event] the event that started it; missing if the document was
 *   loaded
 * @property {RunningProfiler} [$profiler] started by the loader
 * @property {any} [$problem] why it was not started
 * @property {number} $begun start of the page view, ms
 * @property {number} $started start of the profiler, ms
 * @property {Uint8Array<ArrayBuffer>} $viewId set after the other parts are loaded
 * @property {number} $chunk number of its traces
 * @property {Span} $shown its first page
 * @property {Record<string, unknown>} $known its labels
 * @property {string} [$told] the rate that the server requested in an earlier one
 * @property {boolean} $chosen whether it was selected, even if the server has lowered the rate
 * @property {number} weight number of page views that its report stands for
 * @property {boolean} [$sends] it is profiled, and will send a trace
 * @property {string} [stopped] why profiling stopped early
 */
/** @type {Visit} */
export declare const visit: Visit;
/**
 * Buffer size of a profiler in samples. V8 adds samples in bursts, so there are many more than
 * intervals.
 */
export declare const room = 30000;
/**
 * Ends profiling for this document and sends the remaining data. It removes all listeners,
 * observers and timers.
 */
export declare function stop(): void;
/**
 * Sends the data of the flight recorder, with the label `reason`. It sends at most once a second,
 * and does nothing without a flight recorder.
 * @param {string} reason one of a few values
 */
export declare const keep: (reason: string) => void | undefined;
/**
 * Starts to profile this page view, if it is selected. Only the first call counts, in any copy of
 * the script.
 * @param {Options} options
 * @param {() => void} load loads the other parts, and calls them with the visit
 */
export declare function start(options: Options | undefined, load: () => void): void;
