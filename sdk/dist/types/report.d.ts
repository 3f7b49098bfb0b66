/** @import { View, Visit } from './loader.js' */
import type { Visit } from './loader.js';
/**
 * Sends a request to the collector. Without a content type and cookies, which a beacon would have,
 * it needs no preflight. Ad blockers match words such as traces and key, so the URL has none. A
 * request fails after 30 s.
 * @param {Visit} visit
 * @param {string} path t for traces, v for page views
 * @param {BodyInit} body
 * @param {RequestInit} [more]
 */
export declare const post: ({ $options: options }: Visit, path: string, body: BodyInit, more?: RequestInit, send?: typeof fetch) => Promise<Response>;
/**
 * Encodes JSON. Old libraries add a method toJSON to all objects and arrays, which is bypassed.
 * @param {object} value
 */
export declare const json: (value: object) => string;
/**
 * Reports why there is no profile. It uses the number of a trace, so it is sent only once.
 * @param {Visit} visit
 * @param {string} outcome
 */
export declare function report(visit: Visit, outcome: string): void;
