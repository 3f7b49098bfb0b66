import type { Visit } from './loader.js';
/**
 * Reports the Web Vitals of each navigation, like the library web-vitals: LCP, INP, CLS, FCP and
 * TTFB, if the browser supports them. See https://web.dev/articles/vitals. A navigation is a
 * document that was loaded or restored from the back/forward cache, or a soft navigation within it.
 *
 * For LCP, INP and CLS it reports the element, and for LCP and INP the parts of the time: see
 * https://web.dev/articles/optimize-lcp and https://web.dev/articles/optimize-inp.
 *
 * A sent report cannot be changed. So if the browser can send after the page is closed, the report
 * waits until then, together with reports of earlier soft navigations. Otherwise it waits until the
 * page is hidden.
 * @param {Visit} visit
 */
export declare function vitals(visit: Visit): void;
