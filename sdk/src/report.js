/** @import { View, Visit } from './loader.js' */

/**
 * Sends to the collector. Without a content type and cookies, which a beacon would have, it takes no
 * preflight. Ad blockers know words such as traces and key, so there is none in the URL. A request fails after 30 s.
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
 * Writes JSON. Old libraries give all objects and arrays a method toJSON, whose result is not taken.
 * @param {object} value
 */
export const json = (value) =>
  JSON.stringify(value, /** @this {any} @param {string} key */ function (key) {
    return this[key];
  });

/**
 * Says why there is no profile. It takes the number of a trace, so it is said once.
 * @param {Visit} visit
 * @param {string} outcome
 */
export function report(visit, outcome) {
  const { $view: view } = visit;
  if (!view.$chunk++) post(visit, 'v', json({ page: view.$shown[3], outcome, weight: view.weight })).catch(() => {});
}
