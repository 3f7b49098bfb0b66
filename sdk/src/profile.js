import { labels } from './context.js';
import { encodeTrace } from './encodeTrace.js';
import { room } from './loader.js';
import { hidden, listen } from './observe.js';
import { post, report } from './report.js';
import { guard, now, pages, spans } from './spans.js';

/** @import { ProfilerTrace, Span } from './encodeTrace.js' */
/** @import { RunningProfiler, View, Visit } from './loader.js' */

/**
 * When to profile: called to begin and to end it.
 * @callback Mode
 * @param {boolean} on
 * @param {boolean} [first] it is the first time in this page view
 * @returns {void}
 */

/**
 * What a mode profiles with.
 * @typedef {object} Profiling
 * @property {Visit} $visit
 * @property {(onFull: () => void) => RunningProfiler | undefined} $open starts a profiler, if it can
 * @property {(profiler: RunningProfiler, since?: number, more?: Record<string, string>) => void} $close stops a
 *   profiler and sends what it has after `since`, with more labels
 * @property {(mode: Mode) => void} $go begins to profile in this mode
 */

/** The number of the site's labels that are sent. The server accepts 64, with the script's own. */
const most = 50;

/** Why there is no profile, by the name of the error. */
const outcomes = /** @type {Record<string, string>} */ ({
  ReferenceError: 'unsupported',
  NotAllowedError: 'header',
  TypeError: 'quota',
});

/**
 * Goes on with what the loader has begun: cuts the time of a page view into chunks, and encodes and sends
 * them.
 * @param {Visit} visit
 * @param {(visit: Visit) => void} [vitals] begins with the first page view that says something
 * @param {((visit: Visit) => void)[]} [chosen] begin with the first page view that is chosen
 * @param {(profiling: Profiling) => void} [recorder] calls `$go`
 */
export function profile(visit, vitals, chosen = [], recorder) {
  if (visit.$completes) return; // it was loaded twice, as a page view has ended before
  const { $options: options } = visit;
  visit.$listens = new Map([[profile, () => addEventListener('pageshow', visit.$restored)]]);
  const { length, gap } = options.windows ?? { length: 6e4, gap: 0 }; // ms
  const share = length / (length + gap); // of the time that is profiled
  /** @type {Mode | undefined} none until a page view is chosen */
  let mode;

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

  /** @type {boolean | undefined} */
  let leaving; // or stopped: nobody hears any more that the page goes away

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
    if (leaving || hidden()) flush();
    else when(once);
  };

  /**
   * Sends a document. While the page lives it is sent again if that fails, up to five times, after a time that the server
   * may ask for. The server may also ask for fewer page views of a page, and in the next ones for more.
   * @param {Uint8Array<ArrayBuffer>} body
   * @param {string} page that it began on
   */
  const send = async (body, page, tries = 0) => {
    let status = 500;
    let wait = 0; // s
    try {
      // What else is on its way may leave no room for keepalive, so it is not asked for again.
      const answer = await post(visit, 't', body, { keepalive: !tries });
      status = answer.status;
      wait = /** @type {any} */ (answer.headers.get('Retry-After')) | 0; // a date is none
      const { rate } = await answer.json(); // 0 is none at all
      if (rate >= 0) {
        const { $view: view } = visit;
        view.$top = Math.min(view.$top, rate);
        if (view.$draw >= view.$top) end();
        sessionStorage['fieldtrie' + page] = rate;
      }
    } catch {} // the network is down, somebody else has answered, or the visitor has forbidden to keep it
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
      // In less than a minute slow devices would exceed it immediately, and only fast ones would remain.
      if (spent > (options.maxCost ?? 0.005) * Math.max(now() - of.$begun, 6e4)) {
        of.stopped = 'cost';
        end();
      }
    };
    const stopped = profiler.stop();
    spend(1, from); // but not what runs before the browser has the trace
    stopped
      .then((trace) =>
        soon(
          () => work(trace),
          // An interaction is known after the paint that ends it, which may come after the trace.
          (write) => setTimeout(() => (self.requestIdleCallback ?? setTimeout)(write, { timeout: 5000 }), 1000),
        ),
      )
      .catch(() => {});
  };

  /** Names of the labels that the site adds. @type {() => string[]} */
  const names = () => guard(() => Object.keys(/** @type {{}} */ (options.labels)))() ?? [];
  if (names().length > most) console.warn(`fieldtrie: more than ${most} labels`);

  /** Returns the first of these labels that can be read and have a name. */
  const added = () => {
    /** @type {Record<string, string>} */
    const all = {};
    for (const key of names().slice(0, most)) guard(() => key && (all[key] = String(options.labels?.[key] ?? '')))();
    return all;
  };

  /**
   * Encodes and sends a trace, in halves if it is too large to be sent by a page that is gone.
   * @param {ProfilerTrace} trace
   * @param {number} interval
   * @param {View} of page view
   * @param {Record<string, string>} [more] labels
   * @param {number} [from] when the work on it began
   */
  const write = (trace, interval, of, more, from = now()) => {
    const { samples } = trace;
    const half = samples.length / 2;
    if (!half || of.$draw >= of.$top) return; // what the server does not want would have a wrong share
    const first = samples[0].timestamp;
    const last = /** @type {typeof samples[0]} */ (samples.at(-1)).timestamp;
    const until = last + interval;
    const near = [...pages, ...spans].filter((span) => span[0] < until && span[1] > first);
    for (const [start, end, kind] of near) if (!kind && start > of.$begun) near.push([start, end, 2, 'navigation=soft']);
    const page = /** @type {Span} */ (near.shift())[3]; // at the beginning
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
   * Ends a chunk, and begins one if `on`.
   * @param {boolean} on
   */
  const swap = (on) => {
    const old = current;
    if (!on) {
      visit.$view.$profiler?.stop(); // no window begins now
      delete visit.$view.$profiler;
    }
    current = on && open(turn); // before the old one stops, so that no time is lost
    if (old) close(old);
    // A profiler gives its trace in a task of its own, which not every page that is left lives to see: after
    // pagehide there is none for a reload, for example. So what is there is taken before. The listener is
    // added here because in some browsers, without a profiler, it would keep the page out of their cache.
    if (current) {
      visit.$view.$sends = true;
      listen(visit, 'beforeunload', turn);
    }
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
  const rotate = guard((on, first) => {
    clearTimeout(timer);
    swap(on);
    const age = now() - visit.$view.$begun;
    let ms = Math.min(length, 3e4 / pace, navigator.userAgentData?.mobile ? 600 + age / 2 : length);
    // Gaps are exponential and the first window is met at a random moment of it, so that every moment of
    // a page view has the same chance to be profiled.
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

  /** Completes what the loader knows of the page view. */
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
    } catch {} // the visitor has forbidden it
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

  // Who stopped before this was loaded stops when there is something to be sent.
  if (visit.$over) visit.$stop = new AbortController();
  // document.open() removes all listeners, and then the document has no children.
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
