// Explanations of the numbers, which screens show next to them.

/** The terms with an explanation. */
export type Term = keyof typeof meanings;

/** The explanation of each term. */
export const meanings = {
  perView:
    'Main-thread JavaScript per page view, in milliseconds: the mean over all profiled page views. Includes style ' +
    'and layout where the browser reports them. Page views without the function count as 0, so means add up.',
  p50: 'Half of the page views took less time, half took more.',
  p75: 'Three out of four page views took less time. Percentiles of functions do not add up.',
  p95: 'One in twenty page views took more time.',
  interval:
    'The 95 % confidence interval: in 19 of 20 cases, it contains the true value. It is wide if there are few page ' +
    'views, or if they differ a lot.',
  lcp: 'Largest Contentful Paint: when the largest text or image appeared. Good up to 2.5 s, poor over 4 s.',
  inp:
    'Interaction to Next Paint: the time from an input to the next paint, for the slowest interaction of the page ' +
    'view, ignoring outliers. Good up to 200 ms, poor over 500 ms.',
  cls: 'Cumulative Layout Shift: how much content moved unexpectedly. Good up to 0.1, poor over 0.25.',
  fcp: 'First Contentful Paint: when the first text or image appeared. Good up to 1.8 s, poor over 3 s.',
  ttfb: 'Time to First Byte of the document. Good up to 800 ms, poor over 1.8 s.',
  element:
    'The element behind the vital: the largest text or image, the target of the interaction, or the element that ' +
    'moved most. Its name is its data-fieldtrie attribute, or its tag and id.',
  parts: 'The 75th percentile of each part of the time. In each page view the parts add up; their percentiles do not.',
  longTasks: 'JavaScript time in tasks of 50 ms or more. The page does not respond to input during such a task.',
  reach:
    'Page views in which the function, or a function that it calls, was sampled. A function shorter than the ' +
    'sampling interval runs in more page views than it is sampled in.',
  userHours:
    'Total user time: the mean per page view, times all page views (estimated from the profiled ones), per day of ' +
    'data. With less than a day of data, it is the sum, without extrapolation.',
  share: 'The share of all JavaScript time in the selection.',
  self: 'Time in the function itself, without the functions that it calls.',
  total: 'Time in the function and all functions that it calls. Recursive calls count once.',
  views: 'Profiled page views. A page view lasts from loading a page to leaving it.',
  population: 'All page views, estimated from the profiled ones and their sampling rate.',
  coverage:
    'Only a random sample of page views in Chromium browsers is profiled. All numbers are about profiled page views.',
  noise:
    'A difference within noise is not significant: chance can explain it, given the numbers of page views and of ' +
    'tested functions. It does not mean that nothing changed.',
  mix:
    'The mean of B, adjusted to the mix of pages, devices and browsers in A. A different mix of visitors then does ' +
    'not look like a change.',
  corrected:
    'The confidence interval of the change, corrected for the number of functions compared. For a significant ' +
    'change it excludes 0; within noise it includes 0.',
  withPage:
    'The function changed in proportion to the rest of the page. Probably the devices or the behaviour of visitors ' +
    'changed, not the function.',
  code:
    'From the symbols of both releases: the function was edited, calls an edited function, is called by one, or was ' +
    'not edited. A function that was not edited needs stronger evidence for a change.',
  before: 'The change of the mean from the previous period of the same length, not adjusted for the traffic mix.',
  stackless:
    'Time without a JavaScript stack: idle, or work that the browser does not report, such as scripts of other ' +
    'origins without CORS, and layout or style where the browser has no markers. To see the functions of such ' +
    'scripts, load them with crossorigin and CORS headers.',
  viewTime:
    'Main-thread JavaScript of this page view, in milliseconds, within the selection (page, feature, labels). The ' +
    'list is sorted by it.',
  wholeTime: 'JavaScript of the whole page view, regardless of the selection.',
  rank:
    'The page view at a percentile: at p75, three out of four profiled page views of the selection ran less ' +
    'JavaScript.',
  longTask:
    'JavaScript that runs for 50 ms or more without a break, while the page does not respond to input. Two ' +
    'adjacent tasks count as one.',
  blocking: 'The time of long tasks beyond their first 50 ms, added up.',
  timesSeen:
    'Calls of the function that were sampled. Most calls shorter than the sampling interval are missed, and adjacent ' +
    'calls count as one.',
  own: 'Time of the profiling script itself, as the browser sampled it. Means and percentiles exclude it.',
  unsampled: 'Gaps between samples that are too long to be attributed to the function sampled before.',
} as const;
