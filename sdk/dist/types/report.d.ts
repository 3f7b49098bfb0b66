/** @import { View, Visit } from './loader.js' */
import type { Visit } from './loader.js';
/**
 * Sends to the collector. Without a content type and cookies, which a beacon would have, it takes no
 * preflight. Ad blockers know words such as traces and key, so there is none in the URL. A request fails after 30 s.
 * @param {Visit} visit
 * @param {string} path t for traces, v for page views
 * @param {BodyInit} body
 * @param {RequestInit} [more]
 */
export declare const post: ({ $options: options }: Visit, path: string, body: BodyInit, more?: RequestInit, send?: typeof fetch) => Promise<Response>;
/**
 * Writes JSON. Old libraries give all objects and arrays a method toJSON, whose result is not taken.
 * @param {object} value
 */
export declare const json: (value: object) => string;
/**
 * Says why there is no profile. It takes the number of a trace, so it is said once.
 * @param {Visit} visit
 * @param {string} outcome
 */
export declare function report(visit: Visit, outcome: string): void;
