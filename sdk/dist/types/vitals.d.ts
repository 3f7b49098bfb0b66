import type { Visit } from './loader.js';
/**
 * Reports the Web Vitals of each navigation, as the library web-vitals has them: LCP, INP, CLS, FCP and
 * TTFB, as far as the browser tells. See https://web.dev/articles/vitals. A navigation is a document that
 * was loaded or restored from the back/forward cache, or a soft navigation within it.
 *
 * With LCP, INP and CLS it says which element they are of, and how the time of LCP and INP is made up: see
 * https://web.dev/articles/optimize-lcp and https://web.dev/articles/optimize-inp.
 *
 * A report can not be taken back. So it waits for the end where the browser can send when the page has
 * gone, together with those of soft navigations before it, and else until the page is hidden.
 * @param {Visit} visit
 */
export declare function vitals(visit: Visit): void;
