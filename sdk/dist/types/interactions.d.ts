import type { Span } from './encodeTrace.js';
export type Interaction = {
    $id: number;
    /**
     * the element, such as `pointer button#save`
     */
    $name: string;
    /**
     * start of its first event
     */
    $first: number;
    /**
     * start of its longest event
     */
    $start: number;
    /**
     * from the input to the next paint, in steps of 8
     */
    $ms: number;
    /**
     * the frame that shows its result
     */
    $frame: Frame;
    /**
     * its spans
     */
    $noted?: Span[];
};
export type Frame = [end: number, from: number, until: number];
/**
 * Returns a name for the element that a visitor used or saw: the name given by the site, or else
 * its tag with id or role. It returns a text for any page. A form's inputs shadow its properties if
 * they have such names, so nothing is read from the element itself.
 * @param {any} [node] missing if it was removed
 */
export declare function nameOf(node?: any): string;
/**
 * Returns two functions. One takes an entry of Event Timing and returns its interaction, or
 * undefined if it has none or an unknown one. The other returns the interaction with an id. See
 * https://w3c.github.io/event-timing/.
 * @returns {[take: (entry: any) => Interaction | undefined, find: (id: number) => Interaction |
 *   undefined]}
 */
export declare function interactions(): [take: (entry: any) => Interaction | undefined, find: (id: number) => Interaction | undefined];
/**
 * Divides the time of an interaction into input delay, processing and presentation. The paint may
 * seem to precede the end of the work, because only paint times are rounded.
 * @param {Interaction} of
 */
export declare const partsOf: ({ $start: start, $ms: ms, $frame: [, from, until] }: Interaction) => number[];
/**
 * Divides `all` at some of its times, and returns the parts, which always add up to it.
 * @param {number} all
 * @param {number[]} times
 */
export declare function cuts(all: number, ...times: number[]): number[];
