/** @import { View, Visit } from './loader.js' */

/**
 * Sends to the collector. Without a content type and cookies, which a beacon would have, it takes no
 * preflight.
 * @param {Visit} visit
 * @param {string} path
 * @param {BodyInit} body
 * @param {RequestInit} [more]
 */
export const post = async ({ $options: options }, path, body, more, send = fetch) =>
  send(`${options.url}/v1/${path}?key=${options.key ?? ''}`, {
    method: 'POST',
    body,
    keepalive: true,
    credentials: 'omit',
    ...more,
  });

/**
 * Says why there is no profile. It takes the number of a trace, so it is said once.
 * @param {Visit} visit
 * @param {string} outcome
 */
export function report(visit, outcome) {
  const { $shown: shown, weight } = visit.$view;
  if (!visit.$view.$chunk++) post(visit, 'views', JSON.stringify({ page: shown[3], outcome, weight })).catch(() => {});
}
