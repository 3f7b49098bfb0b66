import { loading } from './context.js';
import { interactions, nameOf, partsOf } from './interactions.js';
import { append, hidden, listen, observe } from './observe.js';
import { cut, most, now, pages, spans } from './spans.js';

/** @import { Span } from './encodeTrace.js' */
/** @import { Interaction } from './interactions.js' */
/** @import { Visit } from './loader.js' */

/**
 * Records the phases of the page view as spans of the label `phase`: before-lcp, load until 2 s
 * after the load event, interaction from an input to the next paint, slow-interaction if that took
 * 200 ms, background while the page is hidden. Where several overlap, the one that started last
 * applies. For interactions it records the name, the parts, and the time until the content that
 * they started is painted, if that is later. Elements that the site marked with elementtiming or
 * containertiming become features, from the start of the page to their first paint.
 * @param {Visit} visit
 */
export function phases(visit) {
  const add = (/** @type {string} */ name, start = now(), end = Infinity, /** @type {Span[2]} */ kind = 2) =>
    append(spans, /** @type {Span} */ ([start, end, kind, name]), most);
  const before = add('phase=before-lcp', 0, 0);
  const load = add('phase=load', 0);
  let background = load;
  const look = () => {
    if (hidden()) background = add('phase=background');
    else background[1] = now();
  };
  look();
  listen(visit, 'visibilitychange', look);

  const [take, find] = interactions();
  const reserve = (/** @type {number} */ count) => Array.from({ length: count }, () => add('', 0, 0));
  const note = (/** @type {Span[]} */ noted, /** @type {[number, number, string][]} */ ...all) =>
    all.forEach(([start, end, name], i) => Object.assign(noted[i], [start, end, 2, name]));
  /** @type {Interaction | undefined} */
  let last;
  /**
   * @type {[time: number, name: string, content?: Span[]][]} the last ones: the browser names the
   *   element only of slow ones
   */
  let inputs = [];
  for (const type of ['click', 'keydown'])
    listen(
      visit,
      type,
      ({ timeStamp, target }) => {
        inputs = [[timeStamp, (type == 'click' ? 'pointer ' : 'key ') + nameOf(target)], ...inputs.slice(0, 9)];
      },
      true,
    );
  const painted = new Set(); // each once, such as the entries of a list that have the same name
  /** @param {any} entry */
  const paint = ({ identifier, startTime, firstRenderTime: end = startTime }) => {
    const start = pages.findLast(([begun]) => begun <= end)?.[0] ?? end;
    const name = cut('before-' + identifier);
    if (identifier && !painted.has(start + name)) add(name, start, end, 1);
    painted.add(start + name);
  };
  const flush = observe(visit, {
    event: (entry) => {
      last = take(entry) ?? last; // an event without an id belongs to the same frame, or to none that is recorded
      if (!last) return;
      const { $name: name, $start: start, $ms: ms } = last;
      const [delay, processing] = partsOf(last);
      const [begun, done, end] = [start + delay, start + delay + processing, start + ms];
      note(
        (last.$noted ??= reserve(5)),
        [start, end, `phase=${ms < 200 ? '' : 'slow-'}interaction`],
        [start, end, 'interaction=' + name],
        [start, begun, 'part=input-delay'],
        [begun, done, 'part=processing'],
        [done, end, 'part=presentation'],
      );
    },
    // Content started by a handler, such as a request, may be painted later. The browser tracks
    // this.
    'interaction-contentful-paint': ({ interactionId, startTime, largestContentfulPaint }) => {
      const of = inputs.find(([time]) => Math.abs(time - startTime) < 1);
      const known = find(interactionId);
      const start = known ? known.$start + known.$ms : startTime;
      const end = largestContentfulPaint?.renderTime || 0;
      if (of && end > start + 8)
        note((of[2] ??= reserve(2)), [start, end, 'interaction=' + of[1]], [start, end, 'part=content']);
    },
    element: paint,
    container: paint,
  });
  visit.$completes.push((_, { $known: known }) => {
    flush();
    before[1] = load[0] = visit.$lcp?.() ?? 0;
    load[1] = Math.max(load[0], (loading.loadEventEnd || Infinity) + 2000);
    known.phase = 'idle'; // outside all spans
  });
}
