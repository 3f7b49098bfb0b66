import { append } from './observe.js';

/** @import { Span } from './encodeTrace.js' */

/**
 * The state of an interaction: a click, a tap or a key. Times are in the clock of the page, in ms.
 * @typedef {object} Interaction
 * @property {number} $id
 * @property {string} $name the element, such as `pointer button#save`
 * @property {number} $first start of its first event
 * @property {number} $start start of its longest event
 * @property {number} $ms from the input to the next paint, in steps of 8
 * @property {Frame} $frame the frame that shows its result
 * @property {Span[]} [$noted] its spans
 */

/**
 * A paint at `end`, and the time range in which the events before it were handled, in ms. Events
 * such as mousedown belong to no interaction, but are handled in the same range.
 * @typedef {[end: number, from: number, until: number]} Frame
 */

/**
 * Maximum number of stored frames and interactions. Entries of one arrive together, except for held
 * keys.
 */
const most = 100;

/**
 * UUIDs, hashes and numbers, which identify one of many elements, or a person. The server masks the
 * same.
 */
const identifiers = /[0-9a-f]{8}-[-0-9a-f]{27}|(?=[a-z]*\d)[0-9a-f]{12,}|\p{N}+/giu;

/**
 * Returns a name for the element that a visitor used or saw: the name given by the site, or else
 * its tag with id or role. It returns a text for any page. A form's inputs shadow its properties if
 * they have such names, so nothing is read from the element itself.
 * @param {any} [node] missing if it was removed
 */
export function nameOf(node) {
  const { getAttribute, closest } = Element.prototype;
  try {
    /** @type {Element} */
    const element = node.nodeType == 3 ? node.parentElement : node; // text nodes
    const read = (/** @type {string} */ name, of = element) => getAttribute.call(of, name);
    const named = closest.call(element, '[data-fieldtrie]');
    const [id, role] = [read('id'), read('role')];
    const own =
      Reflect.get(Element.prototype, 'localName', element) +
      (id ? '#' + id.replace(identifiers, '*') : role ? `[${role}]` : '');
    return ((named && read('data-fieldtrie', named)) || own).slice(0, 60);
  } catch {
    return ''; // removed, the document, or the page has patched attribute access
  }
}

/**
 * Returns two functions. One takes an entry of Event Timing and returns its interaction, or
 * undefined if it has none or an unknown one. The other returns the interaction with an id. See
 * https://w3c.github.io/event-timing/.
 * @returns {[take: (entry: any) => Interaction | undefined, find: (id: number) => Interaction |
 *   undefined]}
 */
export function interactions() {
  /** @type {Frame[]} */
  const frames = [];
  /** @type {Interaction[]} */
  const all = [];
  /** @type {(id: number) => Interaction | undefined} */
  const find = (id) => all.find((one) => one.$id == id);
  /** @type {(entry: any) => Interaction | undefined} */
  const take = ({ interactionId: id, name, startTime, duration, processingStart, processingEnd, target }) => {
    const end = startTime + duration;
    const frame =
      frames.find((one) => Math.abs(one[0] - end) < 9) ?? // paint times are multiples of 8 ms
      append(frames, [end, Infinity, 0], most);
    frame[1] = Math.min(frame[1], processingStart);
    frame[2] = Math.max(frame[2], processingEnd);
    if (!id) return;
    const kind = /^key/.test(name) ? 'key ' : 'pointer ';
    const of =
      find(id) ?? append(all, { $id: id, $name: kind, $first: Infinity, $start: 0, $ms: -1, $frame: frame }, most);
    // The first event has the used element. If that was removed, later events have the element
    // below it.
    if (startTime < of.$first) Object.assign(of, { $first: startTime, $name: kind + nameOf(target) });
    // The longest event determines the interaction.
    if (duration > of.$ms) Object.assign(of, { $start: startTime, $ms: duration, $frame: frame });
    return of;
  };
  return [take, find];
}

/**
 * Divides the time of an interaction into input delay, processing and presentation. The paint may
 * seem to precede the end of the work, because only paint times are rounded.
 * @param {Interaction} of
 */
export const partsOf = ({ $start: start, $ms: ms, $frame: [, from, until] }) => cuts(ms, from - start, until - start);

/**
 * Divides `all` at some of its times, and returns the parts, which always add up to it.
 * @param {number} all
 * @param {number[]} times
 */
export function cuts(all, ...times) {
  let at = 0;
  return [...times, all].map((time) => {
    const from = at;
    at = Math.max(at, Math.min(time, all));
    return at - from;
  });
}
