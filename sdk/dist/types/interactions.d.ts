import type { Span } from './encodeTrace.js';
export type Interaction = {
    $id: number;
    /**
     * what was used, as `pointer button#save`
     */
    $name: string;
    /**
     * when its first event began
     */
    $first: number;
    /**
     * when the longest did
     */
    $start: number;
    /**
     * from the input to the next paint, in steps of 8
     */
    $ms: number;
    /**
     * that shows it
     */
    $frame: Frame;
    /**
     * the spans that it has
     */
    $noted?: Span[];
};
export type Frame = [end: number, from: number, until: number];
/**
 * Names the element that a visitor has used or seen: by the name that the site has given it, else by tag and id or role.
 * Whatever the page is like, it returns a text. The properties of a form are its inputs if they have such names, so
 * nothing is read from the element itself.
 * @param {any} [node] none if it has gone
 */
export declare function nameOf(node?: any): string;
/**
 * Returns two functions: one takes an entry of Event Timing and returns the interaction it is of, as far as it is known, if it is of one, and
 * one returns that of an id. See https://w3c.github.io/event-timing/.
 * @returns {[take: (entry: any) => Interaction | undefined, find: (id: number) => Interaction | undefined]}
 */
export declare function interactions(): [take: (entry: any) => Interaction | undefined, find: (id: number) => Interaction | undefined];
/**
 * Cuts the time of an interaction into input delay, processing and presentation. The paint may seem to come before the
 * work is done, as its time alone is in steps.
 * @param {Interaction} of
 */
export declare const partsOf: ({ $start: start, $ms: ms, $frame: [, from, until] }: Interaction) => number[];
/**
 * Cuts `all` at times of it, and returns the parts, which add up to it whatever the times are.
 * @param {number} all
 * @param {number[]} times
 */
export declare function cuts(all: number, ...times: number[]): number[];
