import { append } from './observe.js';

/** @import { Span } from './encodeTrace.js' */

/**
 * What is known of an interaction: a click, a tap or a key. Times are those of the page, in ms.
 * @typedef {object} Interaction
 * @property {number} $id
 * @property {string} $name what was used, as `pointer button#save`
 * @property {number} $first when its first event began
 * @property {number} $start when the longest did
 * @property {number} $ms from the input to the next paint, in steps of 8
 * @property {Frame} $frame that shows it
 * @property {Span[]} [$noted] the spans that it has
 */

/**
 * What the browser does between two paints. An interaction has several events, and others come with it, such as
 * mousedown. Those that end with the same paint were worked on one after the other.
 * @typedef {[end: number, from: number, until: number]} Frame
 */

/** How many frames and interactions are remembered: entries of one come together, but for keys that are held down. */
const most = 100;

/** UUIDs, hashes and numbers, which name one of many elements, or a person. The server masks the same. */
const identifiers = /[0-9a-f]{8}-[-0-9a-f]{27}|(?=[a-z]*\d)[0-9a-f]{12,}|\p{N}+/giu;

/**
 * Names the element that a visitor has used or seen: by the name that the site has given it, else by tag and id or role.
 * Whatever the page is like, it returns a text. The properties of a form are its inputs if they have such names, so
 * nothing is read from the element itself.
 * @param {any} [node] none if it has gone
 */
export function nameOf(node) {
  const { getAttribute, closest } = Element.prototype;
  try {
    /** @type {Element} */
    const element = node.nodeType == 3 ? node.parentElement : node; // of a text
    const read = (/** @type {string} */ name, of = element) => getAttribute.call(of, name);
    const named = closest.call(element, '[data-fieldtrie]');
    const [id, role] = [read('id'), read('role')];
    const own = Reflect.get(Element.prototype, 'localName', element) + (id ? '#' + id.replace(identifiers, '*') : role ? `[${role}]` : '');
    return ((named && read('data-fieldtrie', named)) || own).slice(0, 60);
  } catch {
    return ''; // it has gone, is the document, or the page has patched what reads attributes
  }
}

/**
 * Returns two functions: one takes an entry of Event Timing and returns the interaction it is of, as far as it is known, if it is of one, and
 * one returns that of an id. See https://w3c.github.io/event-timing/.
 * @returns {[take: (entry: any) => Interaction | undefined, find: (id: number) => Interaction | undefined]}
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
      frames.find((one) => Math.abs(one[0] - end) < 9) ?? // times of paints are in steps of 8 ms
      append(frames, [end, Infinity, 0], most);
    frame[1] = Math.min(frame[1], processingStart);
    frame[2] = Math.max(frame[2], processingEnd);
    if (!id) return;
    const kind = /^key/.test(name) ? 'key ' : 'pointer ';
    const of =
      find(id) ?? append(all, { $id: id, $name: kind, $first: Infinity, $start: 0, $ms: -1, $frame: frame }, most);
    // The first event has the element that was used. If it has gone, the next events have the one below it.
    if (startTime < of.$first) Object.assign(of, { $first: startTime, $name: kind + nameOf(target) });
    // The longest event is that of the interaction.
    if (duration > of.$ms) Object.assign(of, { $start: startTime, $ms: duration, $frame: frame });
    return of;
  };
  return [take, find];
}

/**
 * Cuts the time of an interaction into input delay, processing and presentation. The paint may seem to come before the
 * work is done, as its time alone is in steps.
 * @param {Interaction} of
 */
export const partsOf = ({ $start: start, $ms: ms, $frame: [, from, until] }) => cuts(ms, from - start, until - start);

/**
 * Cuts `all` at times of it, and returns the parts, which add up to it whatever the times are.
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
