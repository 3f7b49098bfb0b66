/** @import { View, Visit } from './loader.js' */

/**
 * Sends a request to the collector. Without a content type and cookies, which a beacon would have,
 * it needs no preflight. Ad blockers match words such as traces and key, so the URL has none. A
 * request fails after 30 s.
 * @param {Visit} visit
 * @param {string} path t for traces, v for page views
 * @param {BodyInit} body
 * @param {RequestInit} [more]
 */
export const post = async ({ $options: options }, path, body, more, send = fetch) =>
  send(`${options.url}/${path}/${options.key ?? ''}`, {
    method: 'POST',
    body,
    keepalive: true,
    credentials: 'omit',
    signal: AbortSignal.timeout?.(3e4),
    ...more,
  });

/**
 * Encodes JSON. Old libraries add a method toJSON to all objects and arrays, which is bypassed.
 * @param {object} value
 */
export const json = (value) =>
  JSON.stringify(
    value,
    /** @this {any} @param {string} key */ function (key) {
      return this[key];
    },
  );

/**
 * Reports why there is no profile. It uses the number of a trace, so it is sent only once.
 * @param {Visit} visit
 * @param {string} outcome
 */
export function report(visit, outcome) {
  const { $view: view } = visit;
  if (!view.$chunk++) post(visit, 'v', json({ page: view.$shown[3], outcome, weight: view.weight })).catch(() => {});
}
