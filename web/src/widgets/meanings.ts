// What the numbers mean, in the words that are shown beside them.

/** The words that are explained. */
export type Term = keyof typeof meanings;

/** What each word means. */
export const meanings = {
  perView:
    'Milliseconds of JavaScript that one page view spent on the main thread, on average over all profiled page views, ' +
    'with style and layout where the browser reports them. Views in which a function did not run count as 0, so that these numbers add up.',
  p50: 'Half of the page views took less, half took more.',
  p75: 'Three of four page views took less than this, one of four took more. It does not add up over functions.',
  p95: 'One of twenty page views took more than this.',
  interval:
    'The 95 % interval: if other page views had been profiled by chance, the number would most likely be within it. ' +
    'A wide interval means few page views, or very different ones.',
  lcp: 'Largest Contentful Paint: when the largest text or image was shown. Up to 2.5 s is good, over 4 s poor.',
  inp:
    'Interaction to Next Paint: how long it took from an input until the page showed a reaction, in nearly the ' +
    'slowest case of the page view. Up to 200 ms is good, over 500 ms poor.',
  cls: 'Cumulative Layout Shift: how far content jumped. Up to 0.1 is good, over 0.25 poor.',
  fcp: 'First Contentful Paint: when the first text or image was shown. Up to 1.8 s is good, over 3 s poor.',
  ttfb: 'Time to First Byte of the document. Up to 800 ms is good, over 1.8 s poor.',
  element:
    'What the vital is of: the largest text or image, what was used in the interaction, or what the largest layout ' +
    'shift moved. It is named as data-fieldtrie says, or by tag and id.',
  parts:
    'The 75th percentile of each part of the time. In each page view the parts add up; their percentiles do not.',
  longTasks:
    'The part of the JavaScript that ran in tasks of 50 ms and more, during which the page does not react to input.',
  reach:
    'The number of page views in which it was seen, with time of its own or below it. Functions that are shorter than the ' +
    'sampling interval are seen in fewer views than they run in.',
  userHours:
    'The time of all people together: milliseconds per page view, times all page views that the profiled ones stand ' +
    'for, per day of data. With less than a day of data it is their sum. It is never extrapolated.',
  share: 'The share of all JavaScript time of the selection.',
  self: 'Time in the function itself, without what it calls.',
  total: 'Time in the function and in all that it calls. Calls within calls count once.',
  views: 'Page views that were profiled. A page view is one visit of one page, from load to leaving it.',
  population: 'Page views that the profiled ones stand for, by their sampling rate.',
  coverage:
    'Not every page view is profiled: only Chromium browsers can do it, and only a random sample is taken. All ' +
    'numbers are about the profiled ones.',
  noise:
    'A difference is called noise if it could be by chance, given how many page views there are and how many ' +
    'functions were tested. That does not mean that nothing changed.',
  mix:
    'The mean that B would have with the pages, devices and browsers of A, so that another mix of visitors does not ' +
    'count as a change.',
  corrected:
    'The interval of the change, widened because many functions are compared at once. A change has an interval without ' +
    '0; what is within noise has one that includes 0.',
  withPage:
    'The function changed as the rest of its page views did: it is as much of them as before. So the page views ' +
    'changed, by their devices or by what visitors do, and not the function.',
  code:
    'What the symbols of both releases tell: the function was edited; it calls an edited function or is called by one; ' +
    'or it was not edited, so that its change needs stronger evidence.',
  before: 'The change of the mean against the preceding time range of the same length, not corrected for traffic.',
  stackless:
    'Time without a JavaScript stack: nothing to do (idle), or work that the browser does not report, such as ' +
    'scripts of other origins without CORS, layout or style in browsers that have no markers. Load such scripts with ' +
    'crossorigin and CORS headers to see their functions.',
  viewTime:
    'Milliseconds of JavaScript that this page view spent on the main thread, as far as it belongs to the ' +
    'selection: this page, this feature, these labels. Page views are ordered by it.',
  wholeTime: 'The same for the whole page view, whatever is selected.',
  rank:
    'The page view at a percentile: at p75, three of four profiled page views of the selection ran less JavaScript than it.',
  longTask:
    '50 ms and more with a JavaScript stack all the time, during which the page does not react to input. Two tasks right ' +
    'after each other look like one.',
  blocking: 'The part of each long task that is beyond its first 50 ms, added up.',
  timesSeen:
    'How often it was seen to begin. Calls that are shorter than the sampling interval are mostly missed, and several ' +
    'right after each other look like one.',
  own: 'What the script that profiles took for itself, as the browser sampled it. It is in no mean and no percentile of a page.',
  unsampled: 'Gaps between samples that are too long to count for the function seen before.',
} as const;
