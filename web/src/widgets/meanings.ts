// Explanations of the numbers, which screens show next to them.

/** The terms with an explanation. */
export type Term = keyof typeof meanings;

/** The explanation of each term. */
export const meanings = {
  perView:
    'Main-thread JavaScript per page view, in milliseconds, averaged over all profiled page views. Includes ' +
    'style and ' +
    'layout where the browser reports them. Page views without the function count as 0, so the numbers add up.',
  p50: 'Half of the page views took less time, half took more.',
  p75: 'Three of four page views took less time. Percentiles of functions do not add up.',
  p95: 'One of twenty page views took more time.',
  interval:
    'The 95 % confidence interval: another random sample of page views would most likely give a number within it. ' +
    'It is wide if there are few page views or they differ a lot.',
  lcp: 'Largest Contentful Paint: when the largest text or image appeared. Good up to 2.5 s, poor over 4 s.',
  inp:
    'Interaction to Next Paint: the time from an input to the next paint, for almost the slowest interaction of ' +
    'the page view. Good up to 200 ms, poor over 500 ms.',
  cls: 'Cumulative Layout Shift: how far content moved unexpectedly. Good up to 0.1, poor over 0.25.',
  fcp: 'First Contentful Paint: when the first text or image appeared. Good up to 1.8 s, poor over 3 s.',
  ttfb: 'Time to First Byte of the document. Good up to 800 ms, poor over 1.8 s.',
  element:
    'The element behind the vital: the largest text or image, the target of the interaction, or the element that ' +
    'moved ' +
    'most. Its name is the attribute data-fieldtrie, or the tag and id.',
  parts: 'The 75th percentile of each part of the time. In each page view the parts add up; their percentiles do not.',
  longTasks: 'The share of JavaScript in tasks of 50 ms or more. The page does not respond to input during a task.',
  reach:
    'Page views in which the function, or a function that it calls, was sampled. Functions shorter than the sampling ' +
    'interval run in more page views than they are sampled in.',
  userHours:
    'Total user time: milliseconds per page view, times all page views that the profiled ones represent, per day of ' +
    'data. With less than a day of data it is the sum, without extrapolation.',
  share: 'The share of all JavaScript time in the selection.',
  self: 'Time in the function itself, without the functions that it calls.',
  total: 'Time in the function and all functions that it calls. Recursive calls count once.',
  views: 'Profiled page views. A page view lasts from loading a page to leaving it.',
  population: 'Page views that the profiled ones represent, by their sampling rate.',
  coverage:
    'Only a random sample of page views in Chromium browsers is profiled. All numbers are about profiled page views.',
  noise:
    'A difference is within noise if chance can explain it, given the numbers of page views and of tested functions. ' +
    'It does not mean that nothing changed.',
  mix:
    'The mean of B, adjusted to the pages, devices and browsers of A. Other visitors then do not look like a ' +
    'change.',
  corrected:
    'The confidence interval of the change, corrected for the number of functions compared. A change excludes 0; a ' +
    'difference within noise includes it.',
  withPage:
    'The function changed in proportion to the rest of the page. Devices, or what visitors do, probably changed, ' +
    'and not ' +
    'the function.',
  code:
    'From the symbols of both releases: the function was edited, calls an edited function, is called by one, or ' +
    'was not ' +
    'edited. A function that was not edited needs stronger evidence for a change.',
  before: 'The change of the mean from the previous time range of the same length, not adjusted for traffic.',
  stackless:
    'Time without a JavaScript stack: idle, or work that the browser does not report, such as scripts of other ' +
    'origins ' +
    'without CORS, and layout or style where the browser has no markers. To see functions of such scripts, load them ' +
    'with crossorigin and CORS headers.',
  viewTime:
    'JavaScript of this page view on the main thread, in milliseconds, within the selection (page, feature, labels). ' +
    'The list is sorted by it.',
  wholeTime: 'JavaScript of the whole page view, regardless of the selection.',
  rank:
    'The page view at a percentile: at p75, three of four profiled page views of the selection ran less ' +
    'JavaScript.',
  longTask:
    'An uninterrupted JavaScript stack of 50 ms or more, during which the page does not respond to input. Two ' +
    'adjacent ' +
    'tasks count as one.',
  blocking: 'The sum of the time of long tasks beyond their first 50 ms.',
  timesSeen:
    'How often the function was sampled at its start. Most calls shorter than the sampling interval are missed, and ' +
    'adjacent calls count as one.',
  own: 'Time of the profiling script itself, as the browser sampled it. Means and percentiles exclude it.',
  unsampled: 'Gaps between samples that are too long to be attributed to the function sampled before.',
} as const;
