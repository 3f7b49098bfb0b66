// What the numbers mean, in the words that are shown beside them.

/** The words that are explained. */
export type Term = keyof typeof meanings;

/** What each word means. */
export const meanings = {
  perView:
    'Milliseconds of JavaScript that one page view spent on the main thread, on average over all profiled page ' +
    'views. Views in which a function did not run count as 0, so that these numbers add up.',
  p50: 'Half of the page views took less, half took more.',
  p75: 'Three of four page views took less than this, one of four took more. It does not add up over functions.',
  p95: 'One of twenty page views took more than this.',
  interval:
    'The 95 % interval: if other page views had been profiled by chance, the number would most likely be within it. ' +
    'A wide interval means few page views, or very different ones.',
  lcp: 'Largest Contentful Paint: when the largest text or image was there. Up to 2.5 s is good, over 4 s poor.',
  inp:
    'Interaction to Next Paint: how long it took from an input until the page showed that it was heard, in nearly ' +
    'the slowest case of the page view. Up to 200 ms is good, over 500 ms poor.',
  cls: 'Cumulative Layout Shift: how far things jumped. Up to 0.1 is good, over 0.25 poor.',
  fcp: 'First Contentful Paint: when the first text or image was there. Up to 1.8 s is good, over 3 s poor.',
  ttfb: 'Time to First Byte of the document. Up to 800 ms is good, over 1.8 s poor.',
  longTasks:
    'The part of the JavaScript that came in stretches of 50 ms and more, during which nothing reacts to people.',
  reach:
    'In how many page views it was seen, with time of its own or below it. Functions that are shorter than the ' +
    'sampling interval are seen in fewer views than they run in.',
  userHours:
    'All people’s time together: milliseconds per page view, times all page views that the profiled ones stand ' +
    'for, per day. Of less than a day it is what it was in that time.',
  share: 'The part of all JavaScript time of what is selected.',
  self: 'Time in the function itself, without what it calls.',
  total: 'Time in the function and in all that it calls. Calls within calls count once.',
  views: 'Page views that were profiled. A page view is one visit of one page, from load to leaving it.',
  population: 'Page views that the profiled ones stand for, by the rate at which they were drawn.',
  coverage:
    'Not every page view is profiled: browsers other than Chromium can not do it, and only a part is drawn by lot. ' +
    'What is shown is about the profiled ones.',
  noise:
    'A difference is called noise if it could be by chance, given how many page views there are and how many ' +
    'functions were tested. That does not mean that nothing changed.',
  mix:
    'The part of the difference that is there because other devices or browsers came, and not because code changed. ' +
    'With few page views nobody can tell.',
  leftOut:
    'The part of the difference that comes of devices and browsers of A that B has hardly any of. Whether their code ' +
    'changed nobody knows.',
  corrected:
    'The interval of the change, as wide as it has to be for so many functions to be compared at once. What is called a ' +
    'change has an interval without 0, what is within noise has one that holds 0.',
  before: 'The change of the mean against the time of the same length before, without correcting for other traffic.',
  stackless:
    'Moments without a JavaScript stack: nothing to do (idle), or something that the browser does not tell, such as ' +
    'scripts of other origins without CORS, layout or style in browsers that have no markers.',
  viewTime:
    'Milliseconds of JavaScript that this page view spent on the main thread, as far as it is part of what is selected: ' +
    'of this page, this feature, these labels. Page views are put in order by it.',
  wholeTime: 'The same in all that is known of the page view, whatever is selected.',
  rank:
    'The page view at a percentile: so many of all profiled page views that are selected took less JavaScript than this one.',
  longTask:
    'A stretch of 50 ms and more with a JavaScript stack all the time, during which nothing reacts to people. Two tasks ' +
    'right after each other look like one.',
  blocking: 'The part of each long task that is beyond its first 50 ms, added up.',
  timesSeen:
    'How often it was seen to begin. Calls that are shorter than the sampling interval are mostly missed, and several ' +
    'right after each other look like one.',
  unsampled: 'Gaps between samples that are too long to be booked on the function seen before.',
} as const;
