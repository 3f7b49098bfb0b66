import { loading } from './context.js';
import { cuts, interactions, nameOf, partsOf } from './interactions.js';
import { hidden as isHidden, listen, observe } from './observe.js';
import { json, post } from './report.js';
import { guard, now, pages } from './spans.js';

/** @import { Interaction } from './interactions.js' */
/** @import { View, Visit } from './loader.js' */

/**
 * The arm of the experiment that the draw is. None has a visitor whose browser has no profiler, or who was told a rate:
 * that one was profiled before, so others are not like it. Nor has one where the page has asked for none: then it is not
 * known whether the document has the header.
 * @param {Visit} visit
 */
const armOf = ({ $view: view, $options: { sampleRate } }) =>
  self.Profiler &&
  !view.$problem &&
  !view.$told &&
  (view.$chosen ? 'profiled' : view.$top ? 'header' : sampleRate != 0 && 'none');

/**
 * Reports the Web Vitals of each navigation, as the library web-vitals has them: LCP, INP, CLS, FCP and
 * TTFB, as far as the browser tells. See https://web.dev/articles/vitals. A navigation is a document that
 * was loaded or restored from the back/forward cache, or a soft navigation within it.
 *
 * With LCP, INP and CLS it says which element they are of, and how the time of LCP and INP is made up: see
 * https://web.dev/articles/optimize-lcp and https://web.dev/articles/optimize-inp.
 *
 * A report can not be taken back. So it waits for the end where the browser can send when the page has
 * gone, together with those of soft navigations before it, and else until the page is hidden.
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

  // The present navigation.
  let { $view: view } = visit;
  let page = view.$shown;
  /** @type {Record<string, number>} ms, but for cls */
  let values = responseStart ? { ttfb: Math.max(responseStart - activationStart, 0) } : {};
  /** @type {Interaction[]} the ten longest */
  let longest = [];
  /** @type {Record<string, string>} what LCP and CLS are of */
  let elements = {};
  /** @type {number[] | undefined} of LCP */
  let parts;
  let earlier = 0; // interactions before it
  let by = 0; // the interaction that a soft navigation began with; 0 for other navigations
  // The layout shifts of the present session.
  let first = 0;
  let last = 0;
  let sum = 0;
  let most = 0;
  let moved = ''; // what the largest of them moved
  let sent = false;
  /** @type {string[]} reports of navigations that are over */
  let before = [];
  /** @type {AbortController | undefined} of the reports that wait */
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

  /** @param {boolean} [over] there will be no more of it */
  const report = (over) => {
    if (sent || view.$refused || !view.weight) return;
    const { release, environment } = visit.$options;
    const used = count() - earlier;
    const inp = longest[Math.min(longest.length - 1, Math.floor(used / 50))];
    /** @type {Record<string, number | undefined>} */
    const vitals = {
      ...values,
      inp: inp?.$ms ?? (earlier && used ? 8 : undefined),
      cls: values.fcp >= 0 && PerformanceObserver.supportedEntryTypes.includes('layout-shift') ? (values.cls ?? 0) : undefined,
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
      // The page may forbid that, or have used up what it may send so.
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
    // What is in the document itself has no request. Of others there may be none that is known: then nothing is said.
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
      // It is known after its first paint, so some of its interactions may have come before.
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
    before = []; // the browser has sent them
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
  visit.$stop.signal.addEventListener('abort', guard(() => report(true))); // after what the browser had not yet delivered

  const loaded = values;
  if (view.$event?.persisted) navigate({ ttfb: 0 }); // it came back before this was loaded, too late to see it painted
  visit.$lcp = () => {
    flush();
    return loaded.lcp ?? 0;
  };
}
