import { labels } from './context.js';
import { encodeTrace } from './encodeTrace.js';
import { room } from './loader.js';
import { hidden, listen } from './observe.js';
import { post, report } from './report.js';
import { guard, now, pages, spans } from './spans.js';

/** @import { ProfilerTrace, Span } from './encodeTrace.js' */
/** @import { RunningProfiler, View, Visit } from './loader.js' */

/**
 * A mode that decides when to profile: called to start and to stop.
 * @callback Mode
 * @param {boolean} on
 * @param {boolean} [first] the first call in this page view
 * @returns {void}
 */

/**
 * Functions for a mode.
 * @typedef {object} Profiling
 * @property {Visit} $visit
 * @property {(onFull: () => void) => RunningProfiler | undefined} $open starts a profiler, if it
 *   can
 * @property {(profiler: RunningProfiler, since?: number, more?: Record<string, string>) => void}
 *   $close stops a profiler and sends its data after `since`, with additional labels
 * @property {(mode: Mode) => void} $go starts to profile in this mode
 */

/** Maximum number of the site's labels. The server accepts 64, including the script's own. */
const most = 50;

/** Reason for a missing profile, by the name of the error. */
const outcomes = /** @type {Record<string, string>} */ ({
  ReferenceError: 'unsupported',
  NotAllowedError: 'header',
  TypeError: 'quota',
});

/**
 * Continues what the loader started: divides the time of a page view into chunks, and encodes and
 * sends them.
 * @param {Visit} visit
 * @param {(visit: Visit) => void} [vitals] starts with the first page view that reports
 * @param {((visit: Visit) => void)[]} [chosen] start with the first selected page view
 * @param {(profiling: Profiling) => void} [recorder] calls `$go`
 */
export function profile(visit, vitals, chosen = [], recorder) {
  if (visit.$completes) return; // loaded twice, because a page view ended during loading
  const { $options: options } = visit;
  visit.$listens = new Map([[profile, () => addEventListener('pageshow', visit.$restored)]]);
  const { length, gap } = options.windows ?? { length: 6e4, gap: 0 }; // ms
  const share = length / (length + gap); // profiled share of time
  /** @type {Mode | undefined} none until a page view is selected */
  let mode;

  let sent = 0; // time of the last sent sample
  let pace = 3; // bytes per ms of the last document; the first chunk is 10 s
  let spent = 0; // ms of profiling, without the start, which stopping would not save
  let cost = [0, 0, 0, 0, 0]; // since the last trace: µs to start, stop and encode, bytes, dropped traces

  /**
   * @param {number} work index in cost
   * @param {number} since
   */
  const spend = (work, since) => {
    const ms = now() - since;
    spent += ms;
    cost[work] += ms * 1000;
  };

  /** @type {boolean | undefined} */
  let leaving; // or stopped: then no listener detects that the page is closed

  /** @type {Set<() => void>} deferred work, done immediately when the page is closed */
  const waiting = new Set();
  const flush = () => waiting.forEach((once) => once());

  /**
   * Does work when `when` calls back, or when the page is closed.
   * @param {() => void} work
   * @param {(work: () => void) => void} when
   */
  const soon = (work, when) => {
    const once = () => {
      if (waiting.delete(once))
        try {
          work();
        } catch {
          cost[4]++; // errors must not affect the page
        }
    };
    waiting.add(once);
    if (leaving || hidden()) flush();
    else when(once);
  };

  /**
   * Sends a document. While the page is open, it retries up to five times, after a delay that the
   * server may set. The server may also request fewer page views of a page, and more in later ones.
   * @param {Uint8Array<ArrayBuffer>} body
   * @param {string} page its first page
   */
  const send = async (body, page, tries = 0) => {
    let status = 500;
    let wait = 0; // s
    try {
      // Other requests in flight may leave no room for keepalive, so it is not used again.
      const answer = await post(visit, 't', body, { keepalive: !tries });
      status = answer.status;
      wait = /** @type {any} */ (answer.headers.get('Retry-After')) | 0; // a date becomes 0
      const { rate } = await answer.json(); // 0: none
      if (rate >= 0) {
        const { $view: view } = visit;
        view.$top = Math.min(view.$top, rate);
        if (view.$draw >= view.$top) end();
        sessionStorage['fieldtrie' + page] = rate;
      }
    } catch {} // network error, unexpected response, or storage disabled by the visitor
    if (status < 300) return;
    if (tries < 5 && (status > 499 || status == 429))
      soon(
        () => send(body, page, tries + 1),
        (again) => setTimeout(again, 1000 * Math.max(wait, (1 + Math.random()) * 2 ** tries)),
      );
    else cost[4]++;
  };

  /** @type {Profiling['$open']} */
  const open = (onFull) => {
    const { $view: view } = visit;
    const from = now();
    let { $profiler: profiler } = view;
    try {
      profiler ??= new Profiler({ sampleInterval: options.sampleInterval ?? 10, maxBufferSize: room });
      profiler.addEventListener('samplebufferfull', guard(onFull));
      if (view.$profiler) cost[0] += (view.$started - view.$begun) * 1000;
      else spend(0, from);
    } catch (error) {
      report(visit, outcomes[/** @type {Error} */ (error).name] ?? 'error');
    }
    delete view.$profiler;
    return profiler;
  };

  /** @type {Profiling['$close']} */
  const close = (profiler, since = 0, more) => {
    const from = now();
    const of = visit.$view;
    /** @param {ProfilerTrace} trace */
    const work = (trace) => {
      const from = now();
      trace.samples = trace.samples.filter(({ timestamp }) => timestamp > since && timestamp > sent);
      for (const complete of visit.$completes) guard(complete)(trace, of);
      write(trace, profiler.sampleInterval, of, more, from);
      // In less than a minute slow devices would exceed it immediately, and only fast ones would
      // remain.
      if (spent > (options.maxCost ?? 0.005) * Math.max(now() - of.$begun, 6e4)) {
        of.stopped = 'cost';
        end();
      }
    };
    const stopped = profiler.stop();
    spend(1, from); // without code that runs before the trace is available
    stopped
      .then((trace) =>
        soon(
          () => work(trace),
          // An interaction is known only after its paint, which may come after the trace.
          (write) => setTimeout(() => (self.requestIdleCallback ?? setTimeout)(write, { timeout: 5000 }), 1000),
        ),
      )
      .catch(() => {});
  };

  /** Names of the site's labels. @type {() => string[]} */
  const names = () => guard(() => Object.keys(/** @type {{}} */ (options.labels)))() ?? [];
  if (names().length > most) console.warn(`fieldtrie: more than ${most} labels`);

  /** Returns the first readable labels with a name. */
  const added = () => {
    /** @type {Record<string, string>} */
    const all = {};
    for (const key of names().slice(0, most)) guard(() => key && (all[key] = String(options.labels?.[key] ?? '')))();
    return all;
  };

  /**
   * Encodes and sends a trace, in halves if it is too large for a closed page to send.
   * @param {ProfilerTrace} trace
   * @param {number} interval
   * @param {View} of its page view
   * @param {Record<string, string>} [more] labels
   * @param {number} [from] start of the work on it
   */
  const write = (trace, interval, of, more, from = now()) => {
    const { samples } = trace;
    const half = samples.length / 2;
    if (!half || of.$draw >= of.$top) return; // its share would be wrong under the new rate
    const first = samples[0].timestamp;
    const last = /** @type {typeof samples[0]} */ (samples.at(-1)).timestamp;
    const until = last + interval;
    const near = [...pages, ...spans].filter((span) => span[0] < until && span[1] > first);
    for (const [start, end, kind] of near)
      if (!kind && start > of.$begun) near.push([start, end, 2, 'navigation=soft']);
    const page = /** @type {Span} */ (near.shift())[3]; // at the start of the trace
    const body = encodeTrace(
      trace,
      {
        ...options,
        page,
        ...of,
        timeOrigin: performance.timeOrigin,
        $interval: interval,
        $share: of.$top * share,
        labels: { ...of.$known, stopped: of.stopped, ...added(), ...more },
        $spans: near.map(([start, end, kind, name]) => [start, Math.min(end, until), kind, name || '(unknown)']),
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
   * Ends a chunk, and starts another if `on`.
   * @param {boolean} on
   */
  const swap = (on) => {
    const old = current;
    if (!on) {
      visit.$view.$profiler?.stop(); // no window starts now
      delete visit.$view.$profiler;
    }
    current = on && open(turn); // before the old one stops, so that no time is missed
    if (old) close(old);
    // A profiler delivers its trace in a separate task, which may never run when the page is
    // closed: for example, after pagehide of a reload. So the trace is taken earlier. The listener
    // is added here, because in some browsers, without a profiler, it would keep the page out of
    // the back/forward cache.
    if (current) {
      visit.$view.$sends = true;
      listen(visit, 'beforeunload', turn);
    }
  };

  /** Starts a new chunk. A window still ends at the planned time. */
  const turn = () => {
    if (current) swap(true);
  };

  /**
   * The mode that profiles continuously, in chunks of a minute or 30 KB, or in windows. Phones
   * close pages without an event, so their first chunks are at most a third of the page view.
   * @type {Mode}
   */
  const rotate = guard((on, first) => {
    clearTimeout(timer);
    swap(on);
    const age = now() - visit.$view.$begun;
    let ms = Math.min(length, 3e4 / pace, navigator.userAgentData?.mobile ? 600 + age / 2 : length);
    // Gaps are exponentially distributed and the first window starts at a random moment, so that
    // every moment of a page view has the same probability of being profiled.
    if (gap) ms = !on ? -gap * Math.log(Math.random()) : first ? length * Math.random() - age : length;
    if (current || gap) timer = setTimeout(rotate, ms, !on || !gap);
  });

  const end = () => {
    mode?.(false);
    clearTimeout(timer);
  };
  const hide = () => {
    if (hidden()) turn();
  };
  const leave = () => {
    leaving = true;
    end();
    flush();
  };

  /** Completes the loader's state of the page view. */
  const know = () => {
    const { $view: view } = visit;
    view.$viewId = crypto.getRandomValues(new Uint8Array(16));
    new Uint32Array(view.$viewId.buffer)[0] = view.$draw * 2 ** 32;
    view.$chosen = view.$draw < view.$top;
    view.weight = view.$chosen ? 1 : Math.round(1 / (options.reportRate ?? 0.01));
    view.$shown = /** @type {Span} */ (view.$event?.persisted ? pages.at(-1) : pages[0]);
    view.$known = labels(view);
    view.$chunk = 0;
    try {
      view.$told = sessionStorage['fieldtrie' + view.$shown[3]];
    } catch {} // disabled by the visitor
  };

  const begin = () => {
    const { $view: view } = visit;
    if (!view.$chosen || options.dryRun) report(visit, view.$told == '0' ? 'stopped' : 'unsampled');
    else if (view.$refused) report(visit, 'refused');
    else {
      listen(visit, 'visibilitychange', hide);
      listen(visit, 'pagehide', leave);
      for (const part of chosen.splice(0)) part(visit);
      mode?.(!gap || Math.random() < share, true);
    }
    if (visit.$over) {
      end();
      visit.$stop.abort();
    }
  };

  // If stop() was called before this was loaded, it takes effect with the first data.
  if (visit.$over) visit.$stop = new AbortController();
  // document.open() removes all listeners; then the document has no children.
  const opened = new MutationObserver(() => visit.$listens.forEach((add) => add()));
  opened.observe(document, { childList: true });
  visit.$stop.signal.addEventListener('abort', () => {
    opened.disconnect();
    guard(leave)();
  });
  know();
  vitals?.(visit);
  visit.$completes = []; // Set late, so that the next page view retries after an error above.
  visit.$begin = () => {
    leaving = false;
    spent = 0;
    know();
    begin();
  };
  /** @type {Profiling['$go']} */
  const go = (how) => {
    mode = how;
    begin();
  };
  if (options.recorder && recorder) recorder({ $visit: visit, $open: open, $close: close, $go: go });
  else go(rotate);
}
