import { guard, now, page, pages, shared } from './spans.js';

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
export const visit = /** @type {any} */ ({});

/** Samples that a profiler has room for: V8 adds them in bursts, so they are many more than intervals. */
export const room = 30000;

/** Ends profiling for this document and sends what there is. Nothing is left: no listener, observer or timer. */
export function stop() {
  visit.$over = true;
  visit.$stop?.abort();
  removeEventListener('pageshow', visit.$restored);
}

/**
 * Sends what the flight recorder has, with the label `reason`. It does so no more than once a second,
 * and nothing where no flight recorder runs.
 * @param {string} reason one of few
 */
export const keep = (reason) => visit.$kept?.(reason);

/**
 * Begins to profile this page view, if it is chosen. Once is enough, whichever copy of the script is called.
 * @param {Options} options
 * @param {() => void} load loads what does all else, and calls it with the visit
 */
export function start(options = /** @type {any} */ ({}), load) {
  if (shared[2]) return; // it has begun
  shared[2] = visit.$options = options;
  visit.$begin = load;
  /** @type {string | undefined} */
  let path;
  const show = guard(() => {
    // Often only the state, the query or the fragment is another.
    if (path == (path = location.pathname)) return;
    const of = /** @type {any} */ (options.page);
    page((of?.call ? guard(of)(path) : of) ?? path);
  });

  /**
   * Begins a page view: draws first, as all else is for few, and starts a profiler at once if it is chosen. All that
   * is not chosen ends here, but for a share that says so.
   * @type {(event?: any) => void} takes the event that brought it
   */
  const begin = guard((event) => {
    // The first look at Server-Timing takes a third of all that most visitors pay.
    const decided =
      options.decided ??
      /** @type {any[]} */ (performance.getEntriesByType('navigation'))[0]?.serverTiming?.find(
        (/** @type {any} */ { name }) => name == 'fieldtrie',
      )?.duration;
    let rate = decided ?? options.sampleRate;
    const draw = Math.random() * (decided ?? 1);
    const says = Math.random() < (options.reportRate ?? 0.01);
    // Also where nothing more is done: the one before is over.
    const view = (visit.$view = /** @type {any} */ ({ $event: event, $draw: draw }));
    (options.url && rate != null) || console.warn('fieldtrie: no url or sampleRate');
    if (!(draw < rate || says)) return; // without a look at the clock, as the first one takes a tenth of a millisecond
    view.$begun = now();
    show();
    try {
      // The first look at it takes milliseconds, so it is only for those who need it.
      if (draw < rate) rate = Math.min(rate, sessionStorage['fieldtrie' + /** @type {Span} */ (pages.at(-1))[3]] ?? 1);
    } catch {} // the visitor has forbidden it
    view.$top = rate;
    const refused = (view.$refused = options.honourGPC && navigator.globalPrivacyControl);
    try {
      if (draw < rate && !refused && !options.dryRun)
        view.$profiler = new Profiler({ sampleInterval: options.sampleInterval ?? 10, maxBufferSize: room });
    } catch (error) {
      view.$problem = error; // the page must not suffer from what this browser lacks
    }
    view.$started = now();
    if (draw < rate || says) {
      visit.$stop ??= new AbortController(); // not for all, as the first one takes a tenth of a millisecond
      self.navigation?.addEventListener('currententrychange', show, visit.$stop); // once, however often it is added
      visit.$begin();
    }
  });

  addEventListener('pageshow', (visit.$restored = (event) => event.persisted && begin(event)));
  // A form may have that name, and is not true.
  if (document.prerendering === true) addEventListener('prerenderingchange', begin, true);
  else begin();
}
