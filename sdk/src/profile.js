import { labels, phases } from './context.js';
import { encodeTrace } from './encodeTrace.js';
import { room } from './loader.js';
import { post, report } from './report.js';
import { cut, now } from './spans.js';

/** @import { ProfilerTrace, Span } from './encodeTrace.js' */
/** @import { RunningProfiler, View, Visit } from './loader.js' */
/** @import recorder from './recorder.js' */
/** @import stackless from './stackless.js' */

/**
 * When to profile: called to begin and to end it.
 * @callback Mode
 * @param {boolean} on
 * @param {boolean} [first] it is the first time in this page view
 * @returns {void}
 */

/**
 * What can be left out. Each calls back with what it is, once that is loaded.
 * @typedef {object} Parts
 * @property {(then: (part: {default: typeof stackless}) => void) => void} [stackless]
 * @property {(then: (part: {default: typeof recorder}) => void) => void} [recorder]
 */

/**
 * What a mode profiles with.
 * @typedef {object} Profiling
 * @property {Visit} $visit
 * @property {(onFull: () => void) => RunningProfiler | undefined} $open starts a profiler, if it can
 * @property {(profiler: RunningProfiler, since?: number, more?: Record<string, string>) => void} $close stops a
 *   profiler and sends what it has after `since`, with more labels
 */

/** Why there is no profile, by the name of the error. */
const outcomes = /** @type {Record<string, string>} */ ({
  ReferenceError: 'unsupported',
  NotAllowedError: 'header',
  TypeError: 'quota',
});

/**
 * The rate of a page that the server has asked for.
 * @param {string} [page]
 * @param {unknown} [rate] is kept from now on
 */
function told(page, rate) {
  try {
    if (rate != null) sessionStorage['fieldtrie' + page] = rate;
    return sessionStorage['fieldtrie' + page];
  } catch {} // the visitor has forbidden it
}

const idle = self.requestIdleCallback ?? setTimeout;

/**
 * Goes on with what the loader has begun: cuts the time of a page view into chunks, and encodes and sends
 * them.
 * @param {Visit} visit
 * @param {Parts} parts
 * @param {typeof import('./vitals.js').vitals} [vitals]
 */
export function profile(visit, parts, vitals) {
  const { $options: options, $pages: pages, $spans: spans } = visit;
  const { length, gap } = options.windows ?? { length: 6e4, gap: 0 }; // ms
  const share = length / (length + gap); // of the time that is profiled
  /** @type {Mode | undefined} none until a page view is chosen */
  let mode;
  /** @type {((trace: ProfilerTrace) => void) | undefined} says what is known of samples without a stack */
  let annotate;
  /** @type {() => void} notes the phases up to now */
  let settle;

  let sent = 0; // time of the last sample that was sent
  let pace = 3; // bytes of the last document for each ms; before the first a chunk of 10 s seems right
  let spent = 0; // ms that profiling took, but for its beginning, which stopping would not give back
  let cost = [0, 0, 0, 0, 0]; // since the last trace: µs to start, stop and encode, bytes, traces given up

  /**
   * @param {number} work index in cost
   * @param {number} since
   */
  const spend = (work, since) => {
    const ms = now() - since;
    spent += ms;
    cost[work] += ms * 1000;
  };

  let leaving = false;
  const urgent = () => leaving || visit.$over || document.hidden;

  /** @type {Set<() => void>} what waits, and is done at once when the page goes away */
  const waiting = new Set();
  const flush = () => waiting.forEach((once) => once());

  /**
   * Works when `when` calls back, or when the page goes away.
   * @param {() => void} work
   * @param {(work: () => void) => void} when
   */
  const soon = (work, when) => {
    const once = () => {
      if (waiting.delete(once))
        try {
          work();
        } catch {
          cost[4]++; // the page must not suffer
        }
    };
    waiting.add(once);
    if (urgent()) flush();
    else when(once);
  };

  /**
   * Sends a document. While the page lives it is sent again if that fails, up to five times.
   * @param {Uint8Array<ArrayBuffer>} body
   * @param {string} page that it began on
   */
  const send = async (body, page, tries = 0) => {
    let status = 500;
    try {
      // What else is on its way may leave no room for keepalive, so it is not asked for again.
      const answer = await post(visit, 't', body, { keepalive: !tries });
      status = answer.status;
      steer(page, (await answer.json()).rate);
    } catch {} // the network is down, or somebody else has answered
    if (status < 300) return;
    if (tries < 5 && (status > 499 || status == 429))
      soon(
        () => send(body, page, tries + 1),
        (again) => setTimeout(again, (1 + Math.random()) * 1000 * 2 ** tries),
      );
    else cost[4]++;
  };

  /**
   * Follows the server, which may ask for fewer page views of a page, and in the next ones for more.
   * @param {string} page
   * @param {number} [rate] 0 is none at all
   */
  const steer = (page, rate = NaN) => {
    if (!(rate >= 0)) return;
    const { $view: view } = visit;
    view.$top = Math.min(view.$top, rate);
    if (view.$draw >= view.$top) visit.$ended?.();
    told(page, rate);
  };

  /** @type {Profiling['$open']} */
  const open = (onFull) => {
    const { $view: view } = visit;
    const from = now();
    let { $profiler: profiler } = view;
    try {
      if (view.$problem) throw view.$problem;
      profiler ??= new Profiler({ sampleInterval: options.sampleInterval ?? 10, maxBufferSize: room });
      profiler.addEventListener('samplebufferfull', onFull);
      if (view.$profiler) cost[0] += (view.$started - view.$begun) * 1000;
      else spend(0, from);
    } catch (error) {
      report(visit, outcomes[/** @type {Error} */ (error).name] ?? 'error');
    }
    view.$profiler = undefined;
    return profiler;
  };

  /** @type {Profiling['$close']} */
  const close = async (profiler, since = 0, more) => {
    const from = now();
    const of = visit.$view;
    const stopped = profiler.stop();
    spend(1, from); // but not what runs before the browser has the trace
    const trace = await stopped;
    soon(
      () => {
        const from = now();
        trace.samples = trace.samples.filter(({ timestamp }) => timestamp > since && timestamp > sent);
        annotate?.(trace);
        settle();
        spend(2, from);
        write(trace, profiler.sampleInterval, of, more);
        // Within less than a minute a slow device would be over it at once, and fast ones alone be left.
        if (spent > (options.maxCost ?? 0.005) * Math.max(now() - of.$begun, 6e4)) {
          of.stopped = 'cost';
          visit.$ended?.();
        }
      },
      // An interaction is known after the paint that ends it, which may come after the trace.
      (write) => setTimeout(() => idle(write, { timeout: 5000 }), 1000),
    );
  };

  /**
   * Encodes and sends a trace, in halves if it is too large to be sent by a page that is gone.
   * @param {ProfilerTrace} trace
   * @param {number} interval
   * @param {View} of page view
   * @param {Record<string, string>} [more] labels
   */
  const write = (trace, interval, of, more) => {
    const from = now();
    const { samples } = trace;
    const half = samples.length / 2;
    if (!half || of.$draw >= of.$top) return; // what the server does not want would have a wrong share
    const first = samples[0].timestamp;
    const last = samples[samples.length - 1].timestamp;
    const until = last + interval;
    const near = [...pages, ...spans].filter((span) => span[0] < until && span[1] > first);
    const page = near[0][3]; // at the beginning
    /** @type {Span[]} */
    const soft = near.filter(([start, , kind]) => !kind && start > of.$begun);
    near.push(...soft.map(([start, end]) => /** @type {Span} */ ([start, end, 2, 'navigation=soft'])));
    const body = encodeTrace(
      trace,
      {
        ...options,
        page,
        ...of,
        timeOrigin: performance.timeOrigin,
        $interval: interval,
        $share: of.$top * share,
        labels: Object.fromEntries(
          Object.entries({ ...of.$known, stopped: of.stopped, ...options.labels, ...more }).map(([key, value]) => [
            cut(key),
            cut(value ?? ''),
          ]),
        ),
        $spans: near.slice(1).map(([start, end, kind, name]) => [start, Math.min(end, until), kind, cut(name || '(unknown)')]),
      },
      () => {
        spend(2, from);
        return cost;
      },
    );
    if (body.length > 6e4 && half > 1) {
      write({ ...trace, samples: samples.slice(0, half) }, interval, of, more);
      write({ ...trace, samples: samples.slice(half) }, interval, of, more);
    } else {
      of.$chunk++;
      sent = last;
      cost = [0, 0, 0, body.length, 0];
      pace = body.length / (until - first);
      send(body, page);
    }
  };

  /** @type {RunningProfiler | false | undefined} */
  let current;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /**
   * Ends a chunk, and begins one if `on`.
   * @param {boolean} on
   */
  const swap = (on) => {
    const old = current;
    const { $profiler: profiler } = visit.$view;
    if (!on && profiler) profiler.stop(); // no window begins now
    visit.$view.$profiler = on ? profiler : undefined;
    current = on && open(turn); // before the old one stops, so that no time is lost
    if (old) close(old);
    // A profiler gives its trace in a task of its own, which not every page that is left lives to see: after
    // pagehide there is none for a reload, for example. So what is there is taken before. The listener is
    // added here because in some browsers, without a profiler, it would keep the page out of their cache.
    if (current) addEventListener('beforeunload', turn, visit.$stop);
  };

  /** Begins a new chunk. A window ends when it would. */
  const turn = () => {
    if (current) swap(true);
  };

  /**
   * The mode that profiles throughout, in chunks of a minute or 30 KB, or in windows. Phones end pages without a last word, so their chunks
   * are a third of the page view at most, as long as that is less.
   * @type {Mode}
   */
  const rotate = (on, first) => {
    clearTimeout(timer);
    swap(on);
    // Gaps are exponential and the first window is met at a random moment of it, so that every moment of
    // a page view has the same chance to be profiled.
    const age = now() - visit.$view.$begun;
    const ms = !on
      ? -gap * Math.log(Math.random())
      : gap
        ? first
          ? length * Math.random() - age
          : length
        : Math.min(length, 3e4 / pace, navigator.userAgentData?.mobile ? 600 + age / 2 : length);
    if (current || gap) timer = setTimeout(rotate, ms, !on || !gap);
  };

  const prepare = () => {
    settle = phases(visit, lcp);
    addEventListener('visibilitychange', () => document.hidden && turn(), visit.$stop);
    addEventListener(
      'pagehide',
      () => {
        leaving = true;
        visit.$ended?.();
        flush();
      },
      visit.$stop,
    );
    visit.$ended = () => {
      mode?.(false);
      clearTimeout(timer);
    };
    if (options.stackless != false) parts.stackless?.((part) => (annotate = part.default(visit)));
  };

  /** Completes what the loader knows of the page view. */
  const know = () => {
    const { $view: view } = visit;
    const viewId = crypto.getRandomValues(new Uint8Array(16));
    new Uint32Array(viewId.buffer)[0] = view.$draw * 2 ** 32;
    const chosen = view.$draw < view.$top;
    const weight = chosen ? 1 : Math.round(1 / (options.reportRate ?? 0.01));
    const shown = view.$event?.persisted ? pages.at(-1) : pages[0];
    // Visitors who were told a rate are in no arm: they were profiled before, so others are not like them.
    const arm =
      self.Profiler && !view.$problem && !told(/** @type {any} */ (shown)[3]) && (chosen ? 'profiled' : view.$top ? 'header' : 'none');
    Object.assign(view, { $viewId: viewId, weight, $shown: shown, $chunk: 0, $known: labels(view), $arm: arm });
  };

  const begin = () => {
    const { $view: view } = visit;
    leaving = false;
    spent = 0;
    if (view.$draw >= view.$top || options.dryRun) report(visit, told(view.$shown[3]) == 0 ? 'stopped' : 'unsampled');
    else if (view.$refused) report(visit, 'refused');
    else {
      if (!settle) prepare();
      mode?.(!gap || Math.random() < share, true);
    }
    if (visit.$over) {
      visit.$ended?.();
      visit.$stop.abort();
    }
  };

  // Who stopped before this was loaded stops when there is something to be sent.
  if (visit.$over) visit.$stop = new AbortController();
  visit.$stop.signal.addEventListener('abort', flush); // nobody hears any more that the page goes away
  know();
  const lcp = vitals?.(visit);
  visit.$begin = () => {
    know();
    begin();
  };
  /** @param {Mode} chosen */
  const go = (chosen) => {
    mode = chosen;
    begin();
  };
  if (options.recorder && parts.recorder) parts.recorder((part) => go(part.default({ $visit: visit, $open: open, $close: close })));
  else go(rotate);
}
