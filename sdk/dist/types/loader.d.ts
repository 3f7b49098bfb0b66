import type { ProfilerTrace, Span } from './encodeTrace.js';
import type { Recorder } from './recorder.js';
export type Options = {
    /**
     * the collector, such as "https://profiles.example.com"
     */
    url: string;
    /**
     * write key, if the collector asks for one
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
     * name of the page, or what gives it for a
     * path; the path itself otherwise
     */
    page?: string | ((path: string) => string);
    /**
     * share of the page views that are profiled, 0 to 1; not asked where
     * the server has decided, see docs/sdk.md
     */
    sampleRate?: number;
    /**
     * the share with which the server has chosen this page view, 0 if it has
     * not, where Server-Timing can not say so
     */
    decided?: number;
    /**
     * ms between samples; 10
     */
    sampleInterval?: number;
    /**
     * further labels, with few values each; empty ones are
     * left out
     */
    labels?: Record<string, unknown>;
    /**
     * profile for `length` ms, at most 60,000, and then
     * not for `gap` ms on average, again and again, instead of throughout
     */
    windows?: {
        length: number;
        gap: number;
    };
    /**
     * share of the main thread's time over which the SDK switches itself off;
     * 0.005
     */
    maxCost?: number;
    /**
     * share of the page views that are not chosen which say so, and say
     * their Web Vitals; 0.01
     */
    reportRate?: number;
    /**
     * do not profile visitors whose browser sends Global Privacy Control,
     * nor take their Web Vitals
     */
    honourGPC?: boolean;
    /**
     * draw, and profile nobody: the A/A test of `aggregate --cost`
     */
    dryRun?: boolean;
    /**
     * false leaves out what splits the time without a stack
     */
    stackless?: boolean;
    /**
     * keep the last seconds, and send them when something bad happens; not
     * in the core
     */
    recorder?: Recorder;
};
export type Visit = {
    $options: Options;
    /**
     * the present one
     */
    $view: View;
    /**
     * loads a part from the collector that has served the script, and calls
     * it with what it is of; the integrity also names the version, for caches
     */
    $part: (name: string, integrity: string, of: any) => void;
    /**
     * add what is known to a trace that is about to be encoded
     */
    $completes: ((trace: ProfilerTrace, of: View) => void)[];
    /**
     * the largest contentful paint of the document, ms, 0 if there is none yet
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
     * begins the page view of a document that comes back
     */
    $restored: (event: PageTransitionEvent) => void;
    /**
     * of all listeners and observers, as what takes options of a listener takes it
     */
    $stop: AbortController;
    /**
     * adds each listener again, by what it calls
     */
    $listens: Map<Function, () => void>;
    /**
     * handles a page view; the first call loads all else
     */
    $begin: () => void;
};
export type RunningProfiler = EventTarget & {
    stop(): Promise<ProfilerTrace>;
    readonly sampleInterval: number;
};
export type View = {
    /**
     * it is chosen if that is under the rate
     */
    $draw: number;
    /**
     * the rate: share of the page views that are profiled
     */
    $top: number;
    /**
     * the visitor does not want it
     */
    $refused?: boolean;
    /**
     * that brought it, none if the document was loaded
     */
    $event?: PageTransitionEvent;
    /**
     * that the loader has started
     */
    $profiler?: RunningProfiler;
    /**
     * why it has not
     */
    $problem?: any;
    /**
     * when it began, ms
     */
    $begun: number;
    /**
     * when the profiler was, ms
     */
    $started: number;
    /**
     * these are known when all else is loaded
     */
    $viewId: Uint8Array<ArrayBuffer>;
    /**
     * how many traces it has
     */
    $chunk: number;
    /**
     * the page on which it began
     */
    $shown: Span;
    /**
     * its labels
     */
    $known: Record<string, unknown>;
    /**
     * the rate that the server has asked for in one before
     */
    $told?: string;
    /**
     * whether the server still wants it or not
     */
    $chosen: boolean;
    /**
     * page views that it stands for when it says something
     */
    weight: number;
    /**
     * it is profiled, and sends that whatever happens
     */
    $sends?: boolean;
    /**
     * why it was not profiled to its end
     */
    stopped?: string;
};
/** @import { ProfilerTrace, Span } from './encodeTrace.js' */
/** @import { Recorder } from './recorder.js' */
/**
 * @typedef {object} Options
 * @property {string} url the collector, such as "https://profiles.example.com"
 * @property {string} [key] write key, if the collector asks for one
 * @property {string} [release] version of the site
 * @property {string} [environment] such as "production"
 * @property {string | ((path: string) => string)} [page] name of the page, or what gives it for a
 *   path; the path itself otherwise
 * @property {number} [sampleRate] share of the page views that are profiled, 0 to 1; not asked where
 *   the server has decided, see docs/sdk.md
 * @property {number} [decided] the share with which the server has chosen this page view, 0 if it has
 *   not, where Server-Timing can not say so
 * @property {number} [sampleInterval] ms between samples; 10
 * @property {Record<string, unknown>} [labels] further labels, with few values each; empty ones are
 *   left out
 * @property {{length: number, gap: number}} [windows] profile for `length` ms, at most 60,000, and then
 *   not for `gap` ms on average, again and again, instead of throughout
 * @property {number} [maxCost] share of the main thread's time over which the SDK switches itself off;
 *   0.005
 * @property {number} [reportRate] share of the page views that are not chosen which say so, and say
 *   their Web Vitals; 0.01
 * @property {boolean} [honourGPC] do not profile visitors whose browser sends Global Privacy Control,
 *   nor take their Web Vitals
 * @property {boolean} [dryRun] draw, and profile nobody: the A/A test of `aggregate --cost`
 * @property {boolean} [stackless] false leaves out what splits the time without a stack
 * @property {Recorder} [recorder] keep the last seconds, and send them when something bad happens; not
 *   in the core
 */
/**
 * What the loader knows, and what is loaded later goes on with.
 * @typedef {object} Visit
 * @property {Options} $options
 * @property {View} $view the present one
 * @property {(name: string, integrity: string, of: any) => void} $part loads a part from the collector that has served the script, and calls
 *   it with what it is of; the integrity also names the version, for caches
 * @property {((trace: ProfilerTrace, of: View) => void)[]} $completes add what is known to a trace that is about to be encoded
 * @property {() => number} [$lcp] the largest contentful paint of the document, ms, 0 if there is none yet
 * @property {(reason: string) => void} [$kept] keep() of the flight recorder
 * @property {boolean} [$over] stop() was called
 * @property {(event: PageTransitionEvent) => void} $restored begins the page view of a document that comes back
 * @property {AbortController} $stop of all listeners and observers, as what takes options of a listener takes it
 * @property {Map<Function, () => void>} $listens adds each listener again, by what it calls
 * @property {() => void} $begin handles a page view; the first call loads all else
 */
/**
 * A profiler that has been started, see https://wicg.github.io/js-self-profiling/.
 * @typedef {EventTarget & {stop(): Promise<ProfilerTrace>, readonly sampleInterval: number}} RunningProfiler
 */
/**
 * A page view. A trace of it may come when the next one has begun, after a return from the back/forward
 * cache.
 * @typedef {object} View
 * @property {number} $draw it is chosen if that is under the rate
 * @property {number} $top the rate: share of the page views that are profiled
 * @property {boolean} [$refused] the visitor does not want it
 * @property {PageTransitionEvent} [$event] that brought it, none if the document was loaded
 * @property {RunningProfiler} [$profiler] that the loader has started
 * @property {any} [$problem] why it has not
 * @property {number} $begun when it began, ms
 * @property {number} $started when the profiler was, ms
 * @property {Uint8Array<ArrayBuffer>} $viewId these are known when all else is loaded
 * @property {number} $chunk how many traces it has
 * @property {Span} $shown the page on which it began
 * @property {Record<string, unknown>} $known its labels
 * @property {string} [$told] the rate that the server has asked for in one before
 * @property {boolean} $chosen whether the server still wants it or not
 * @property {number} weight page views that it stands for when it says something
 * @property {boolean} [$sends] it is profiled, and sends that whatever happens
 * @property {string} [stopped] why it was not profiled to its end
 */
/** @type {Visit} */
export declare const visit: Visit;
/** Samples that a profiler has room for: V8 adds them in bursts, so they are many more than intervals. */
export declare const room = 30000;
/** Ends profiling for this document and sends what there is. Nothing is left: no listener, observer or timer. */
export declare function stop(): void;
/**
 * Sends what the flight recorder has, with the label `reason`. It does so no more than once a second,
 * and nothing where no flight recorder runs.
 * @param {string} reason one of few
 */
export declare const keep: (reason: string) => void | undefined;
/**
 * Begins to profile this page view, if it is chosen. Once is enough, whichever copy of the script is called.
 * @param {Options} options
 * @param {() => void} load loads what does all else, and calls it with the visit
 */
export declare function start(options: Options | undefined, load: () => void): void;
