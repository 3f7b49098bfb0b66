import { labels, loading, phases } from './context.js';
import { encodeTrace } from './encodeTrace.js';
import { now, page, pages, shown, spans } from './spans.js';

/** @import { ProfilerTrace, Span } from './encodeTrace.js' */

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
 * @property {number} [reportRate] share of the page views that are not chosen which say so; 0.01
 * @property {boolean} [honourGPC] do not profile visitors whose browser sends Global Privacy Control
 */

/**
 * When to profile: called to begin and to end it.
 * @callback Mode
 * @param {boolean} on
 * @param {boolean} [first] it is the first time in this page view
 * @returns {void}
 */

/**
 * Says what is known of samples without a stack.
 * @callback Annotate
 * @param {ProfilerTrace} trace
 * @returns {void}
 */

/** @type {Options} */
let options;
/** @type {Mode | undefined} none until a page view is chosen */
let mode;
/** @type {Annotate | undefined} */
let annotate;
/** @type {() => void} notes the phases up to now */
let settle;
/** @type {() => void} makes the three above */
let prepare;
let length = 6e4; // ms of a chunk or window
let gap = 0; // ms between windows, on average
let duty = 1; // share of the time that is profiled

/**
 * This page view: its id, how many traces it has, its labels, and what it drew: it is chosen if that is
 * under the rate. A trace may come when the next one has begun, after a return from the back/forward cache.
 * @type {{viewId: Uint8Array<ArrayBuffer>, chunk: number, known: Record<string, unknown>, draw: number}}
 */
let view;
let rate = 0;
let begun = 0;

let sent = 0; // time of the last sample that was sent
let pace = 3; // bytes of the last document for each ms; before the first a chunk of 10 s seems right
let spent = 0; // ms that profiling took
let cost = [0, 0, 0, 0, 0]; // since the last trace: µs to start, stop and encode, bytes, traces given up

/**
 * @param {number} work index in cost
 * @param {number} since
 */
function spend(work, since) {
  const ms = now() - since;
  spent += ms;
  cost[work] += ms * 1000;
}

let leaving = false;
const urgent = () => leaving || document.hidden;

/** @type {Set<() => void>} what waits, and is done at once when the page goes away */
const waiting = new Set();
const flush = () => waiting.forEach((once) => once());

/**
 * Works when `when` calls back, or when the page goes away.
 * @param {() => void} work
 * @param {(work: () => void) => void} when
 */
function soon(work, when) {
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
}

/**
 * Without a content type and cookies, which a beacon would have, it takes no preflight.
 * @param {string} path
 * @param {BodyInit} body
 */
const post = async (path, body, keepalive = true) =>
  fetch(`${options.url}/v1/${path}?key=${options.key ?? ''}`, { method: 'POST', body, keepalive, credentials: 'omit' });

/**
 * Says why there is no profile, if there is none. It takes the number of a trace, so it is said once.
 * @param {string} outcome
 * @param {number} [weight] page views that this one stands for
 */
function report(outcome, weight) {
  if (!view.chunk++) post('views', JSON.stringify({ page: shown[3], outcome, weight })).catch(() => {});
}

/**
 * Sends a document. While the page lives it is sent again if that fails, up to five times.
 * @param {Uint8Array<ArrayBuffer>} body
 * @param {string} page that it began on
 */
async function send(body, page, tries = 0) {
  let status = 500;
  try {
    // What else is on its way may leave no room for keepalive, so it is not asked for again.
    const answer = await post('traces', body, !tries);
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
}

/** @type {Record<string, any>} rates of pages that the server has asked for */
let memory = {};
try {
  memory = sessionStorage ?? memory;
} catch {} // the visitor has forbidden it

/**
 * Follows the server, which may ask for fewer page views of a page, and in the next ones for more.
 * @param {string} page
 * @param {number} [told] rate; 0 is none at all
 */
function steer(page, told = NaN) {
  if (told >= 0) {
    rate = Math.min(rate, told);
    if (view.draw >= rate) stop();
    memory['fieldtrie ' + page] = told;
  }
}

/**
 * Starts a profiler, if it can.
 * @internal
 * @param {() => void} onFull
 */
export function open(onFull) {
  const from = now();
  try {
    // V8 adds samples in bursts, so there is room for many more than there are intervals.
    const profiler = new Profiler({ sampleInterval: options.sampleInterval ?? 10, maxBufferSize: 30000 });
    profiler.addEventListener('samplebufferfull', onFull);
    spend(0, from);
    return profiler;
  } catch (error) {
    const { name } = /** @type {Error} */ (error);
    report(name == 'NotAllowedError' ? 'header' : name == 'TypeError' ? 'quota' : 'error');
  }
}

/**
 * Stops a profiler and sends what it has after `since`.
 * @internal
 * @param {Profiler} profiler
 * @param {number} [since]
 * @param {Record<string, string>} [more] labels
 */
export async function close(profiler, since = 0, more) {
  const from = now();
  const of = view;
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
      if (spent > (options.maxCost ?? 0.005) * Math.max(now() - begun, 1e4)) stop();
    },
    (write) => requestIdleCallback(write, { timeout: 5000 }),
  );
}

/**
 * Encodes and sends a trace, in halves if it is too large to be sent by a page that is gone.
 * @param {ProfilerTrace} trace
 * @param {number} interval
 * @param {typeof view} of page view
 * @param {Record<string, string>} [more] labels
 */
function write(trace, interval, of, more) {
  const from = now();
  const { samples } = trace;
  const half = samples.length / 2;
  if (!half || of.draw >= rate) return; // what the server does not want would have a wrong share
  const first = samples[0].timestamp;
  const last = samples[samples.length - 1].timestamp;
  const until = last + interval;
  const near = [...pages, ...spans].filter((span) => span[0] < until && span[1] > first);
  const page = near[0][3]; // at the beginning
  const body = encodeTrace(
    trace,
    {
      ...options,
      page,
      ...of,
      timeOrigin: performance.timeOrigin,
      interval,
      share: rate * duty,
      labels: { ...of.known, ...options.labels, ...more },
      spans: near.slice(1).map(([start, end, kind, name]) => [start, Math.min(end, until), kind, name || '(unknown)']),
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
    of.chunk++;
    sent = last;
    cost = [0, 0, 0, body.length, 0];
    pace = body.length / (until - first);
    send(body, page);
  }
}

/** @type {Profiler | false | undefined} */
let current;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * Ends a chunk, and begins one if `on`.
 * @param {boolean} on
 */
function swap(on) {
  const old = current;
  current = on && open(turn); // before the old one stops, so that no time is lost
  if (old) close(old);
  // A profiler gives its trace in a task of its own, which not every page that is left lives to see: after
  // pagehide there is none for a reload, for example. So what is there is taken before. The listener is
  // added here because in some browsers, without a profiler, it would keep the page out of their cache.
  if (current) addEventListener('beforeunload', turn);
}

/** Begins a new chunk. A window ends when it would. */
function turn() {
  if (current) swap(true);
}

/**
 * The mode that profiles throughout, in chunks of a minute or 30 KB, or in windows.
 * @type {Mode}
 */
function rotate(on, first) {
  clearTimeout(timer);
  swap(on);
  // Gaps are exponential and the first window is met at a random moment of it, so that every moment of
  // a page view has the same chance to be profiled.
  const part = gap ? (first ? Math.random() : 1) : Math.min(1, 0.5 / pace);
  if (current || gap) timer = setTimeout(rotate, on ? length * part : -gap * Math.log(Math.random()), !on || !gap);
}

/** Ends profiling for this page view and sends what there is. */
export function stop() {
  mode?.(false);
  clearTimeout(timer);
}

/**
 * Begins a page view, and profiles it if it is chosen.
 * @param {boolean} [restored] from the back/forward cache
 */
function begin(restored) {
  const viewId = crypto.getRandomValues(new Uint8Array(16));
  begun = now();
  spent = 0;
  const [a, b] = new Uint32Array(viewId.buffer);
  const decided =
    options.decided ?? loading.serverTiming?.find(({ name }) => name == 'fieldtrie')?.duration;
  const top = decided ?? 1;
  const told = memory['fieldtrie ' + shown[3]];
  rate = Math.min(top, told ?? (decided == null ? options.sampleRate : 1));
  const draw = (a / 2 ** 32) * top;
  view = { viewId, chunk: 0, known: labels(restored), draw };
  const { reportRate = 0.01 } = options;
  if (draw < rate) {
    if (options.honourGPC && navigator.globalPrivacyControl) return report('refused');
    if (!self.Profiler) return report('unsupported');
    if (!mode) prepare();
    mode?.(Math.random() < duty, true);
  } else if (b / 2 ** 32 < reportRate) report(told == 0 ? 'stopped' : 'unsampled', Math.round(1 / reportRate));
}

/**
 * Begins to profile this page view, if it is chosen.
 * @param {Options} theOptions
 * @param {() => Annotate} [makeAnnotate]
 * @param {() => Mode} [makeMode] if none is given, throughout or in windows
 */
export function start(theOptions, makeAnnotate, makeMode = () => rotate) {
  if (options) return; // it has begun
  options = theOptions;
  if (options.windows) ({ length, gap } = options.windows);
  duty = length / (length + gap);
  prepare = () => {
    settle = phases();
    annotate = makeAnnotate?.();
    mode = makeMode();
    self.navigation?.addEventListener('currententrychange', show);
    addEventListener('visibilitychange', () => {
      if (document.hidden) turn();
    });
    addEventListener('pagehide', () => {
      leaving = true;
      stop();
      flush();
    });
  };
  /** @type {string | undefined} */
  let path;
  const show = () => {
    const { page: name } = options;
    if (path == location.pathname) return; // only the state, the query or the fragment is another
    path = location.pathname;
    page(typeof name == 'function' ? name(path) : (name ?? path));
  };
  /** @param {boolean} [restored] */
  const enter = (restored) => {
    try {
      leaving = false;
      show();
      begin(restored);
    } catch {} // the page must not suffer from what this browser lacks
  };
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) enter(true);
  });
  if (document.prerendering) document.addEventListener('prerenderingchange', () => enter());
  else enter();
}
