import { guard, now, page, pages, shared } from './spans.js';

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
export const visit = /** @type {any} */ ({});

/**
 * Buffer size of a profiler in samples. V8 adds samples in bursts, so there are many more than
 * intervals.
 */
export const room = 30000;

/**
 * Ends profiling for this document and sends the remaining data. It removes all listeners,
 * observers and timers.
 */
export function stop() {
  visit.$over = true;
  visit.$stop?.abort();
  removeEventListener('pageshow', visit.$restored);
}

/**
 * Sends the data of the flight recorder, with the label `reason`. It sends at most once a second,
 * and does nothing without a flight recorder.
 * @param {string} reason one of a few values
 */
export const keep = (reason) => visit.$kept?.(reason);

/**
 * Starts to profile this page view, if it is selected. Only the first call counts, in any copy of
 * the script.
 * @param {Options} options
 * @param {() => void} load loads the other parts, and calls them with the visit
 */
export function start(options = /** @type {any} */ ({}), load) {
  if (shared[2]) return; // already started
  shared[2] = visit.$options = options;
  visit.$begin = load;
  /** @type {string | undefined} */
  let path;
  const show = guard(() => {
    // Often only the state, query or fragment changes.
    if (path == (path = location.pathname)) return;
    const of = /** @type {any} */ (options.page);
    page((of?.call ? guard(of)(path) : of) ?? path);
  });

  /**
   * Starts a page view. It draws first, because other work is only for a few, and starts a profiler
   * immediately if the page view is selected. Others end here, except for a share that reports.
   * @type {(event?: any) => void} takes the event that started it
   */
  const begin = guard((event) => {
    // The first access to Server-Timing is a third of the cost for most visitors.
    const decided =
      options.decided ??
      /** @type {any[]} */ (performance.getEntriesByType('navigation'))[0]?.serverTiming?.find(
        (/** @type {any} */ { name }) => name == 'fieldtrie',
      )?.duration;
    let rate = decided ?? options.sampleRate;
    const draw = Math.random() * (decided ?? 1);
    const says = Math.random() < (options.reportRate ?? 0.01);
    // Needed in any case: the previous page view is over.
    const view = (visit.$view = /** @type {any} */ ({ $event: event, $draw: draw }));
    (options.url && rate != null) || console.warn('fieldtrie: no url or sampleRate');
    if (!(draw < rate || says)) return; // before the clock is read, which takes 0.1 ms the first time
    view.$begun = now();
    show();
    try {
      // The first access takes milliseconds, so only these page views pay for it.
      if (draw < rate) rate = Math.min(rate, sessionStorage['fieldtrie' + /** @type {Span} */ (pages.at(-1))[3]] ?? 1);
    } catch {} // disabled by the visitor
    view.$top = rate;
    const refused = (view.$refused = options.honourGPC && navigator.globalPrivacyControl);
    try {
      if (draw < rate && !refused && !options.dryRun)
        view.$profiler = new Profiler({ sampleInterval: options.sampleInterval ?? 10, maxBufferSize: room });
    } catch (error) {
      view.$problem = error; // missing features of the browser must not affect the page
    }
    view.$started = now();
    if (draw < rate || says) {
      visit.$stop ??= new AbortController(); // only if needed, since the first one takes 0.1 ms
      self.navigation?.addEventListener('currententrychange', show, visit.$stop); // repeated calls add it only once
      visit.$begin();
    }
  });

  addEventListener('pageshow', (visit.$restored = (event) => event.persisted && begin(event)));
  // A form may have this name, and is not true.
  if (document.prerendering === true) addEventListener('prerenderingchange', begin, true);
  else begin();
}
