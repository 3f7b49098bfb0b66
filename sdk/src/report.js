/** @import { View, Visit } from './loader.js' */

/**
 * Sends to the collector. Without a content type and cookies, which a beacon would have, it takes no
 * preflight. Ad blockers know words such as traces and key, so there is none in the URL.
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
    ...more,
  });

/**
 * Says why there is no profile. It takes the number of a trace, so it is said once.
 * @param {Visit} visit
 * @param {string} outcome
 */
export function report(visit, outcome) {
  const { $view: view } = visit;
  if (!view.$chunk++) post(visit, 'v', JSON.stringify({ page: view.$shown[3], outcome, weight: view.weight })).catch(() => {});
}
