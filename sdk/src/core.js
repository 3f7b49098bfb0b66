import { labels, loading, phases } from './context.js';
import { encodeTrace } from './encodeTrace.js';
import { now, page, shown, spans } from './spans.js';

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

/** @type {Record<string, string>} why there is no profile, by the name of the error */
const outcomes = { ReferenceError: 'unsupported', NotAllowedError: 'header', TypeError: 'quota' };

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

// Of this page view:
/** @type {Uint8Array<ArrayBuffer>} */
let view;
let chunk = 0;
let draw = 0; // it is chosen if this is under rate
let rate = 0;
let begun = 0;
/** @type {Record<string, unknown>} */
let known; // labels

let sent = 0; // time of the last sample that was sent
let size = 18e4; // bytes of the last document; before the first a chunk of 10 s seems right
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
  if (urgent()) once();
  else when(once);
}

const address = (/** @type {string} */ path) => `${options.url}/v1/${path}?key=${options.key ?? ''}`;

/**
 * Says why there is no profile, if there is none. It takes the number of a trace, so it is said once.
 * @param {string} outcome
 * @param {number} [weight] page views that this one stands for
 */
function report(outcome, weight) {
  if (!chunk++) navigator.sendBeacon(address('views'), JSON.stringify({ page: shown[3], outcome, weight }));
}

/**
 * Sends a document. While the page lives it is sent again if that fails, up to five times.
 * @param {Uint8Array<ArrayBuffer>} body
 */
async function send(body, tries = 0) {
  const url = address('traces');
  if (urgent() && navigator.sendBeacon(url, body)) return;
  let status = 500;
  try {
    // Without a content type and cookies it takes no preflight.
    const answer = await fetch(url, { method: 'POST', body, keepalive: true, credentials: 'omit' });
    status = answer.status;
    steer((await answer.json()).rate);
  } catch {} // the network is down, or somebody else has answered
  if (status < 300) return;
  if (tries < 5 && (status > 499 || status == 429))
    soon(
      () => send(body, tries + 1),
      (again) => setTimeout(again, (1 + Math.random()) * 1000 * 2 ** tries),
    );
  else cost[4]++;
}

const slot = () => 'fieldtrie ' + shown[3];
/** @type {() => Record<string, any>} */
const memory = () => {
  try {
    return sessionStorage;
  } catch {
    return {}; // the visitor has forbidden it
  }
};

/**
 * Follows the server, which may ask for fewer page views of a page, and in the next ones for more.
 * @param {number} [told] rate; 0 is none at all
 */
function steer(told = NaN) {
  if (told >= 0) {
    memory()[slot()] = told;
    rate = Math.min(rate, told);
    if (draw >= rate) stop();
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
    report(outcomes[/** @type {Error} */ (error).name] ?? 'error');
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
  const trace = await profiler.stop();
  spend(1, from);
  soon(
    () => {
      const from = now();
      annotate?.(trace);
      settle();
      trace.samples = trace.samples.filter(({ timestamp }) => timestamp > since && timestamp > sent);
      spend(2, from);
      write(trace, profiler.sampleInterval, more);
      if (spent > (options.maxCost ?? 0.005) * Math.max(now() - begun, 1e4)) stop();
    },
    (write) => requestIdleCallback(write, { timeout: 5000 }),
  );
}

/**
 * Encodes and sends a trace whose samples are sorted, in halves if it is too large for a beacon.
 * @param {ProfilerTrace} trace
 * @param {number} interval
 * @param {Record<string, string>} [more] labels
 */
function write(trace, interval, more) {
  const from = now();
  const { samples } = trace;
  const half = samples.length / 2;
  if (!half) return;
  const first = samples[0].timestamp;
  const last = samples[samples.length - 1].timestamp;
  const until = last + interval;
  const near = spans.filter((span) => span[0] < until && span[1] > first);
  const at = near.find(([, , kind]) => !kind); // the page at the beginning
  const body = encodeTrace(
    trace,
    {
      ...options,
      page: (at ?? shown)[3],
      viewId: view,
      chunk,
      timeOrigin: performance.timeOrigin,
      interval,
      share: rate * duty,
      labels: { ...known, ...options.labels, ...more },
      spans: near.filter((span) => span != at).map((span) => [span[0], Math.min(span[1], until), span[2], span[3]]),
    },
    () => {
      spend(2, from);
      return cost;
    },
  );
  if (body.length > 6e4 && half > 1) {
    write({ ...trace, samples: samples.slice(0, half) }, interval, more);
    write({ ...trace, samples: samples.slice(half) }, interval, more);
  } else {
    chunk++;
    sent = last;
    cost = [0, 0, 0, (size = body.length), 0];
    send(body);
  }
}

/** @type {Profiler | false | undefined} */
let current;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * The mode that profiles throughout, in chunks of a minute, or in windows.
 * @type {Mode}
 */
function rotate(on, first) {
  const old = current;
  clearTimeout(timer);
  current = on && open(turn); // before the old one stops, so that no time is lost
  // Gaps are exponential and the first window is met at a random moment of it, so that every moment of
  // a page view has the same chance to be profiled.
  const part = gap ? (first ? Math.random() : 1) : Math.min(1, 3e4 / size);
  if (current || gap) timer = setTimeout(rotate, on ? length * part : -gap * Math.log(Math.random()), !on || !gap);
  if (old) close(old);
  // A profiler gives its trace in a task of its own, which not every page that is left lives to see: after
  // pagehide there is none for a reload, for example. So what is there is taken before. The listener is
  // added here because in some browsers, without a profiler, it would keep the page out of their cache.
  if (current) addEventListener('beforeunload', turn);
}

/** Begins a new chunk. */
function turn() {
  if (current) rotate(true);
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
  view = crypto.getRandomValues(new Uint8Array(16));
  chunk = 0;
  begun = now();
  known = labels(restored);
  const [a, b] = new Uint32Array(view.buffer);
  const decided =
    options.decided ?? loading.serverTiming?.find(({ name }) => name == 'fieldtrie')?.duration;
  const top = decided ?? 1;
  const told = memory()[slot()];
  rate = Math.min(top, told ?? (decided == null ? options.sampleRate : 1));
  draw = (a / 2 ** 32) * top;
  const { reportRate = 0.01 } = options;
  if (options.honourGPC && navigator.globalPrivacyControl) report('refused');
  else if (draw < rate) {
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
  };
  const show = () => {
    const { page: name = location.pathname } = options;
    page(typeof name == 'function' ? name(location.pathname) : name);
  };
  show();
  self.navigation?.addEventListener('currententrychange', show);
  addEventListener('visibilitychange', () => {
    if (document.hidden) turn();
  });
  addEventListener('pagehide', () => {
    leaving = true;
    stop();
    waiting.forEach((once) => once());
  });
  addEventListener('pageshow', ({ persisted }) => {
    leaving = false;
    if (persisted) begin(true);
  });
  if (document.prerendering) document.addEventListener('prerenderingchange', () => begin());
  else begin();
}
