/**
 * What is known of an interaction: a click, a tap or a key. Times are those of the page, in ms.
 * @typedef {object} Interaction
 * @property {number} $id
 * @property {string} $name what was used, as `pointer button#save`
 * @property {number} $start
 * @property {number} $ms from the input to the next paint, in steps of 8
 * @property {Frame} $frame that shows it
 */
export type Interaction = {
    $id: number;
    /**
     * what was used, as `pointer button#save`
     */
    $name: string;
    $start: number;
    /**
     * from the input to the next paint, in steps of 8
     */
    $ms: number;
    /**
     * that shows it
     */
    $frame: Frame;
};
export type Frame = [end: number, from: number, until: number];
/**
 * Names what a visitor has used or seen, without what it says: as the site has named it, else by tag and id or role.
 * @param {any} [node] none if it has gone
 */
export declare function nameOf(node?: any): string;
/**
 * Returns a function that takes an entry of Event Timing and returns the interaction it is of, as far as it is known, if it is of one.
 * See https://w3c.github.io/event-timing/.
 */
export declare function interactions(): (entry: any) => Interaction | undefined;
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
