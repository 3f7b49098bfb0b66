import { loading } from './context.js';
import { cuts, interactions, nameOf, partsOf } from './interactions.js';
import { hidden as isHidden, listen, observe } from './observe.js';
import { json, post } from './report.js';
import { guard, now, pages } from './spans.js';

/** @import { Interaction } from './interactions.js' */
/** @import { View, Visit } from './loader.js' */

/**
 * Returns the arm of the experiment, which the draw determines. Visitors whose browser has no
 * profiler have no arm. Nor have visitors who were sent a rate, since they were profiled before and
 * are not comparable. Nor have page views whose page sets no rate, because the headers of the
 * document are then unknown.
 * @param {Visit} visit
 */
const armOf = ({ $view: view, $options: { sampleRate } }) =>
  self.Profiler &&
  !view.$problem &&
  !view.$told &&
  (view.$chosen ? 'profiled' : view.$top ? 'header' : sampleRate != 0 && 'none');

/**
 * Reports the Web Vitals of each navigation, like the library web-vitals: LCP, INP, CLS, FCP and
 * TTFB, if the browser supports them. See https://web.dev/articles/vitals. A navigation is a
 * document that was loaded or restored from the back/forward cache, or a soft navigation within it.
 *
 * For LCP, INP and CLS it reports the element, and for LCP and INP the parts of the time: see
 * https://web.dev/articles/optimize-lcp and https://web.dev/articles/optimize-inp.
 *
 * A sent report cannot be changed. So if the browser can send after the page is closed, the report
 * waits until then, together with reports of earlier soft navigations. Otherwise it waits until the
 * page is hidden.
 * @param {Visit} visit
 */
export function vitals(visit) {
  const { activationStart = 0, responseStart } = loading;
  const count = () => performance.interactionCount ?? 0;
  let hidden =
    performance
      .getEntriesByType('visibility-state')
      .find(({ name, startTime }) => name == 'hidden' && startTime >= activationStart)?.startTime ??
    (isHidden() ? 0 : Infinity);

  // The current navigation.
  let { $view: view } = visit;
  let page = view.$shown;
  /** @type {Record<string, number>} ms, except for cls */
  let values = responseStart ? { ttfb: Math.max(responseStart - activationStart, 0) } : {};
  /** @type {Interaction[]} the ten longest */
  let longest = [];
  /** @type {Record<string, string>} elements of LCP and CLS */
  let elements = {};
  /** @type {number[] | undefined} parts of LCP */
  let parts;
  let earlier = 0; // interactions before this navigation
  let by = 0; // the interaction that started a soft navigation; 0 for other navigations
  // The layout shifts of the current session.
  let first = 0;
  let last = 0;
  let sum = 0;
  let most = 0;
  let moved = ''; // the element moved by the largest shift
  let sent = false;
  /** @type {string[]} reports of finished navigations */
  let before = [];
  /** @type {AbortController | undefined} for the waiting reports */
  let later;

  /** @type {(of: Record<string, number>, interaction?: number, since?: typeof longest) => void} */
  const navigate = (of, interaction = 0, since = []) => {
    view = visit.$view;
    page = /** @type {typeof page} */ (pages.at(-1));
    values = of;
    elements = {};
    parts = undefined;
    longest = since;
    earlier = count() - since.length;
    by = interaction;
    sum = 0;
    hidden = Infinity;
    sent = false;
  };

  /** @param {boolean} [over] this is the final report */
  const report = (over) => {
    if (sent || view.$refused || !view.weight) return;
    const { release, environment } = visit.$options;
    const used = count() - earlier;
    const inp = longest[Math.min(longest.length - 1, Math.floor(used / 50))];
    /** @type {Record<string, number | undefined>} */
    const vitals = {
      ...values,
      inp: inp?.$ms ?? (earlier && used ? 8 : undefined),
      cls:
        values.fcp >= 0 && PerformanceObserver.supportedEntryTypes.includes('layout-shift')
          ? (values.cls ?? 0)
          : undefined,
    };
    const body = json({
      page: page[3],
      weight: view.weight,
      profiled: !by && view.$sends && view.$draw < view.$top,
      release,
      environment,
      labels: { ...view.$known, navigation: by && 'soft', arm: armOf(visit) },
      vitals,
      elements: { ...elements, inp: inp?.$name },
      parts: { lcp: parts, inp: inp && partsOf(inp) },
    });
    const reports = [...before, body];
    if (over) before = reports;
    const lines = reports.join('\n');
    const send = () => {
      before = [];
      sent = !over;
      post(visit, 'v', lines).catch(() => {});
    };
    later?.abort();
    if (self.fetchLater && reports.length < 20 && !visit.$stop.signal.aborted) {
      later = new AbortController();
      // The page may disallow this, or its quota may be exhausted.
      post(visit, 'v', lines, { signal: later.signal }, self.fetchLater).catch(send);
    } else send();
  };

  /** @type {(name: string, end: number, start?: number) => number | undefined} */
  const paint = (name, end, start = activationStart) => {
    if (end < hidden) return (values[name] = Math.max(end - start, 0));
  };
  /** @type {(entry: any, end: number, start?: number) => void} */
  const largest = ({ element, url = '' }, end, start) => {
    const lcp = paint('lcp', end, start);
    if (lcp == undefined) return;
    elements.lcp = (url ? 'image ' : 'text ') + nameOf(element);
    // Content of the document itself has no request. If the request is unknown, the parts are
    // omitted.
    /** @type {any} */
    const request = performance.getEntriesByName(url, 'resource').findLast((one) => one.startTime <= end);
    const { requestStart, startTime = 0, responseEnd = 0 } = request ?? {};
    const known = !by && responseStart && (request || !url || url.startsWith('data:'));
    parts = known
      ? cuts(
          lcp,
          responseStart - activationStart,
          (requestStart || startTime) - activationStart,
          responseEnd - activationStart,
        )
      : undefined;
  };
  const [interactionOf] = interactions();
  /** @param {any} entry */
  const interaction = (entry) => {
    const of = interactionOf(entry);
    if (of && !longest.includes(of)) longest.push(of);
    longest.sort((a, b) => b.$ms - a.$ms).splice(10);
  };
  /** @type {Record<string, (entry: any) => void>} */
  const takes = {
    paint: ({ name, startTime }) => name == 'first-contentful-paint' && paint('fcp', startTime),
    'largest-contentful-paint': (entry) => largest(entry, entry.startTime),
    'layout-shift': ({ hadRecentInput, startTime, value, sources = [] }) => {
      if (hadRecentInput) return;
      if (!sum || startTime - last >= 1000 || startTime - first >= 5000) {
        first = startTime;
        sum = most = 0;
      }
      last = startTime;
      sum += value;
      if (value >= most) {
        most = value;
        moved = nameOf((sources.find((/** @type {any} */ { node }) => node?.nodeType == 1) ?? sources[0])?.node);
      }
      if (sum <= (values.cls ?? 0)) return;
      values.cls = sum;
      elements.cls = moved;
    },
    event: interaction,
    'first-input': interaction,
    'soft-navigation': (entry) => {
      const { startTime, presentationTime, paintTime, interactionId } = entry;
      // It is known only after its first paint, so some of its interactions may have come before.
      const since = longest.filter((one) => one.$start >= startTime && one.$id != interactionId);
      longest = longest.filter((one) => !since.includes(one));
      report(true);
      navigate({ fcp: Math.max((presentationTime || paintTime || 0) - startTime, 0) }, interactionId, since);
      const shown = entry.getLargestInteractionContentfulPaint?.();
      if (shown) takes[shown.entryType](shown);
    },
    'interaction-contentful-paint': ({ interactionId, startTime, largestContentfulPaint: of }) =>
      by && interactionId == by && largest(of ?? {}, of?.renderTime || 0, startTime),
  };
  // Chromium gives events without a listener no target, and the first event names the interaction.
  for (const type of ['pointerdown', 'keydown']) listen(visit, type, () => {}, true);
  const flush = observe(visit, takes, () => (view.$event?.persisted ? view.$event.timeStamp : 0));

  listen(visit, 'visibilitychange', ({ timeStamp }) => {
    if (!isHidden()) return;
    flush();
    hidden = Math.min(hidden, timeStamp);
    report();
  });
  listen(visit, 'pageshow', ({ persisted, timeStamp }) => {
    if (!persisted) return;
    before = []; // sent by the browser
    later = undefined;
    navigate({ ttfb: 0 });
    requestAnimationFrame(() =>
      requestAnimationFrame(
        guard(() => {
          values.fcp = now() - timeStamp;
          if (PerformanceObserver.supportedEntryTypes.includes('largest-contentful-paint')) values.lcp = values.fcp;
        }),
      ),
    );
  });
  visit.$stop.signal.addEventListener(
    'abort',
    guard(() => report(true)),
  ); // after undelivered entries

  const loaded = values;
  if (view.$event?.persisted) navigate({ ttfb: 0 }); // restored before this was loaded, too late to observe its paint
  visit.$lcp = () => {
    flush();
    return loaded.lcp ?? 0;
  };
}
