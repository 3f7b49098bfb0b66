// Responses of the API, as described in query/api/openapi.yaml. Times in …_us are exact sums in µs
// over page views; times in …_ms and all spreads are milliseconds of one page view. Intervals are
// 95 % confidence intervals.

import type { FrameColumns } from '../tree/tree.ts';

/** A value and its interval. Without high, the interval is unknown. */
export interface Estimate {
  value: number;
  low?: number;
  high?: number;
}

/** The distribution of a time over page views, in ms. */
export interface Spread {
  mean: Estimate;
  p50: Estimate;
  p75: Estimate;
  p95: Estimate;
  /**
   * The page views, at most 1 %, that take half of the total time and so dominate the mean. share
   * is from 0 to 1.
   */
  few?: { views: number; share: number };
}

/** A bar of a histogram: page views with a time in [low_ms, high_ms). */
export interface Bar {
  low_ms: number;
  high_ms: number;
  count: number;
}

/** The share of script time with names from source maps. */
export interface Names {
  self_us: number;
  named_us: number;
  builds: number;
  missing?: { resource: string; release?: string; self_us: number; problem: string }[];
  more_missing?: number;
  bounded?: number;
}

/** The data behind a response. */
export interface Stats {
  partitions: number;
  traces: number;
  bytes: number;
  folded_views?: number;
  names?: Names;
  warnings?: string[];
}

/** Page views in a period. coverage counts page views without a profile, by reason. */
export interface Point {
  time?: string;
  views: number;
  traces: number;
  population?: Estimate;
  self_us: number;
  /** The part of self_us that the profiling script took. Means and percentiles exclude it. */
  own_us: number;
  samples: number;
  stackless_us: number;
  idle_us: number;
  unsampled_us: number;
  mean_ms: number;
  /** The estimated mean including time of dropped samples, with its interval. */
  scaled_mean_ms: number;
  scaled_low_ms?: number;
  scaled_high_ms?: number;
  spread?: Spread;
  long_tasks?: Spread;
  coverage?: Record<string, number>;
  histogram?: Bar[];
  /** Only in a point for the whole range. */
  people?: PeoplesTime;
}

/**
 * The mean multiplied by the number of page views that the profiles represent: a daily average if
 * per_day is set, else the total.
 */
export interface PeoplesTime {
  hours: number;
  /** Number of days with data in the selected range. */
  days: number;
  per_day: boolean;
}

/** A value of a label with its page views. */
export interface ListItem extends Point {
  value: string;
}

/** Sums over pages. missing counts page views without a profile, by reason. */
export interface ListSum {
  views: number;
  population: number;
  missing: Record<string, number>;
  self_us: number;
  own_us: number;
  samples: number;
}

/** Response of /api/v1/pages, features, releases and coverage. */
export interface List {
  key: string;
  values: ListItem[];
  more?: number;
  /** Only in coverage: sums over all pages, including pages that are not listed. */
  all?: ListSum;
  no_spread?: string;
  stats: Stats;
}

/** Response of /api/v1/cost. */
export interface Cost {
  arms: { arm: 'profiled' | 'header' | 'none'; views: number; page_views: number }[];
  control?: 'header' | 'none';
  /** null if unknown. */
  fair: boolean | null;
  /** Why the comparison is not fair. Then there are no differences. */
  unfair?: string;
  vitals: VitalCost[];
  /** Reasons for missing values. */
  missing?: string[];
  stats: Stats;
}

/** The effect of profiling on a Web Vital. */
export interface VitalCost {
  name: string;
  unit: 'ms' | 'score';
  profiled_views: number;
  control_views: number;
  matched: number;
  differences: CostDifference[];
  views_for_one_percent?: number;
  hours_for_one_percent?: number;
}

/** Profiled minus others, in the unit, or as a share for poor. */
export interface CostDifference {
  what: 'p50' | 'p75' | 'p95' | 'geomean' | 'poor';
  profiled: number;
  control: number;
  value: number;
  low: number;
  high: number;
  relative?: { value: number; low: number; high: number };
  status: 'slower' | 'faster' | 'noise';
}

/** Points of one set of labels. */
export interface SeriesGroup {
  labels: Record<string, string>;
  points: Point[];
}

/** Response of /api/v1/series. */
export interface Series {
  step_seconds: number;
  groups: SeriesGroup[];
  no_spread?: string;
  stats: Stats;
}

/** The location of a function. */
export interface Place {
  name: string;
  resource?: string;
  line?: number;
  column?: number;
}

/** A function of /api/v1/top, or a part of the code with several functions. */
export interface TopFunction extends Place {
  source_url?: string;
  self_us: number;
  total_us: number;
  samples: number;
  reach: number;
  self?: Spread;
  total?: Spread;
}

/** Response of /api/v1/top. */
export interface Top {
  views: number;
  traces: number;
  self_us: number;
  /** The part of self_us that the profiling script took, where it has its own row. */
  own_us: number;
  functions: TopFunction[];
  other_functions: { count: number; self_us: number };
  no_spread?: string;
  stats: Stats;
}

/** The values of both sides. */
export interface Pair {
  a: number;
  b: number;
}

/** The status of a change. */
export type Status =
  'slower' | 'faster' | 'new' | 'gone' | 'moved' | 'with the page' | 'within noise' | 'not known' | 'too few views';

/**
 * A change from A to B. mean_ms are the means of A and B, both with the traffic mix and browser
 * versions of A; change_ms is their difference. With too few page views, both are as measured.
 * Unknown values are null. level is the confidence level of all intervals, such as 0.99.
 */
export interface Change {
  mean_ms: Pair;
  change_ms: Estimate;
  /**
   * Whether change_ms is adjusted for changes in the rest of the page view; plain_change_ms is the
   * change without this adjustment.
   */
  at_equal_rest?: boolean;
  plain_change_ms?: Estimate;
  /**
   * Means over all page views: their difference is the sum of change_ms, mix_ms, browser_ms and
   * left_out_ms.
   */
  measured_ms: Pair;
  mix_ms: Estimate | null;
  /** The effect of B's browser versions alone. */
  browser_ms: Estimate | null;
  left_out_ms: number | null;
  level: number;
  /** change_ms divided by A's mean, at least -1; absent if that is 0. */
  relative?: number;
  p: number;
  q: number;
  detectable_ms: number | null;
  status: Status;
}

/** The change of a feature. */
export interface FeatureChange extends Change {
  name: string;
}

/** The evidence for a function from the symbols of both releases. */
export type Code = 'edited' | 'calls edited' | 'called by edited' | 'not edited';

/**
 * The change of a function. share is the change divided by the page's change; from is a different
 * place in A.
 */
export interface FunctionChange extends Change, Place {
  source_url?: string;
  from?: Place;
  total_ms: Pair;
  reach: Pair;
  code?: Code;
  unadjusted?: boolean;
  share?: number;
}

/** Response of /api/v1/compare. */
export interface Comparison {
  method_of_sums: 'views' | 'sums';
  note: string;
  views: Pair;
  min_views: number;
  enough: boolean;
  false_discovery: number;
  method: string;
  total: Change;
  strata: {
    labels: Record<string, string>;
    views: Pair;
    share: Pair;
    mean_ms: Pair;
    use: string;
    browser_effect?: number;
  }[];
  /**
   * The shares are parts of the browser family's page views; effect is relative, with a 95 %
   * interval.
   */
  browser_versions?: { browser: string; share_a: number; share_b: number; effect: number; low: number; high: number }[];
  uncovered: number | null;
  features: FeatureChange[];
  functions: FunctionChange[];
  tested_functions: number;
  /** Functions that are folded, see `folds`. */
  not_edited?: { functions: number; changed: number; largest?: Place; change_ms?: Estimate };
  rest: { functions: number; mean_ms: Pair; change_ms: number; share?: number };
  warnings?: string[];
  names?: Names;
}

/** The state of a change in triage. */
export type ChangeState = 'open' | 'acknowledged' | 'expected' | 'resolved';

/** The series that changed, without the page. */
export interface What {
  kind: 'page' | 'feature' | 'function' | 'vital';
  metric: string;
  function?: Place;
  feature?: string;
}

/** A change on one page: ms per page view, or a score for cls. */
export interface PageChange {
  page: string;
  views: Pair;
  value: Pair;
  change: Estimate;
  /** At an equal rest of the page view. */
  beside?: Estimate;
  level: number;
  relative?: number;
}

/** A commit of a release, with its address if the upload included one. */
export interface Commit {
  sha: string;
  author?: string;
  title?: string;
  url?: string;
}

/** A change that the daemon detected. */
export interface FoundChange {
  title: string;
  id: string;
  state: ChangeState;
  direction: 'slower' | 'faster' | 'moved';
  what: What;
  detector: 'release' | 'time';
  release?: string;
  compare_release?: string;
  begin: string;
  found: string;
  checked: string;
  resolved?: string;
  resolution?: string;
  /** The first page accounts for most of the change. */
  pages: PageChange[];
  consequences?: { page: string; what: What; change: Estimate }[];
  moved?: { page: string; what: What; change: Estimate }[];
  causes?: { kind: string; text: string; function?: Place; source_url?: string; commits?: Commit[] }[];
  causes_note?: string;
  handled?: { by?: string; at: string; note?: string; until?: string };
  owner?: string;
  team?: string;
}

/** Response of /api/v1/changes. */
export interface FoundChanges {
  changes: FoundChange[];
  /** Absent before the first evaluation. */
  evaluated?: string;
  more: number;
}

/** A day or an hour of a change. */
export interface ChangePoint {
  time: string;
  views: number;
  value: Estimate;
}

/** Response of /api/v1/changes/{id}. */
export interface ChangeReport extends FoundChange {
  series: {
    page: string;
    unit: 'ms' | '';
    points: ChangePoint[];
    /**
     * Hours around the step, of the release with the change and the one before; absent if hourly
     * data has expired.
     */
    hours?: { release: string; points: ChangePoint[] }[];
    releases: { release: string; begin: string }[];
  } | null;
}

/** Response of /api/v1/labels. */
export interface Labels {
  labels: { key: string; values: { value: string; views: number }[]; more?: number }[];
}

/** A single page view. time_ms and long tasks (of 50 ms or more) are within the selection. */
export interface ViewEntry {
  quantile: number;
  id: string;
  /** The page on which it began. */
  page: string;
  release?: string;
  environment?: string;
  labels?: Record<string, string>;
  received: string;
  traces: number;
  time_ms: number;
  /** Time of the profiling script, which time_ms excludes. */
  own_ms: number;
  long_task_count: number;
  long_task_ms: number;
}

/**
 * Response of /api/v1/views: one page view per quantile, and the number of page views that they are
 * chosen from.
 */
export interface Views {
  views: number;
  list: ViewEntry[];
  stats: Stats;
}

/** A stretch of time, in µs since the page's time origin. */
export interface Stretch {
  start_us: number;
  end_us: number;
}

/**
 * Response of /api/v1/view: the course of a page view. Times are µs since the page's time origin.
 */
export interface ViewResponse extends ViewEntry, Stretch {
  interval_us: number;
  strings: string[];
  frames: FrameColumns;
  /** Sorted by start, callers first: frame, depth, start and end. */
  calls: { frame: number[]; level: number[]; start_us: number[]; end_us: number[] };
  /** Routes, features and labels (KEY=VALUE), sorted by start. */
  spans: (Stretch & { kind: 'page' | 'feature' | 'label'; name: string })[];
  long_tasks: Stretch[];
  /** Periods without samples. */
  unsampled: Stretch[];
  stats: Stats;
}

/** A Web Vital over page views. The 75th percentile determines the rating. */
export interface VitalReport {
  name: string;
  unit: 'ms' | 'score';
  /** Number of page views that reported it, and of page views that they represent. */
  views: number;
  page_views: number;
  p50: Estimate;
  p75: Estimate;
  p95: Estimate;
  /** Shares of the page views, from 0 to 1. */
  good: number;
  poor: number;
  rating: string;
  /** The parts of LCP and INP, in order; percentiles of parts do not add up. */
  parts?: VitalPart[];
  /** The most frequent elements of LCP, INP or CLS, and the number of others. */
  elements?: VitalElement[];
  more_elements?: number;
}

/** A part of a Web Vital, in ms, over the page views that reported it. */
export interface VitalPart {
  name: string;
  views: number;
  page_views: number;
  p50: Estimate;
  p75: Estimate;
  p95: Estimate;
}

/** A Web Vital over the page views with one element. */
export interface VitalElement {
  element: string;
  views: number;
  page_views: number;
  /** Share of the page views that reported the vital, from 0 to 1. */
  share: number;
  p75: Estimate;
  poor: number;
  rating: string;
  parts?: VitalPart[];
}

/** Response of /api/v1/vitals, page by page. */
export interface Vitals {
  pages: { page: string; labels?: Record<string, string>; vitals: VitalReport[] }[];
  stats: Stats;
}

/** An entry of the catalogue: a page, or a feature, release or environment of a page. */
export interface Entry {
  page: string;
  kind: 'page' | 'feature' | 'release' | 'environment';
  name: string;
  traces: number;
  first: string;
  last: string;
}

/** Response of /api/v1/catalog. */
export interface Catalog {
  entries: Entry[];
  warnings?: string[];
  /** A description of the demo data. */
  demo?: string;
}

/** Response of /api/v1/newest. */
export interface ReleasePair {
  release?: string;
  views: number;
  compare_release?: string;
  compare_views: number;
  min_views: number;
  /** Why there is no verdict. */
  missing?: string;
  /** A note that the order of the releases is uncertain. */
  guess?: string;
  stats: Stats;
}

/** A browser version in its family. Unknown values are null. */
export interface BrowserVersion {
  browser: string;
  views: number;
  /** Of the page views of the family, from 0 to 1. */
  share: number;
  /** How much slower it is than the other versions of the family: 0.01 is 1 %. */
  effect: Estimate | null;
  effect_ms: Estimate | null;
  /** When it first had half of the page views of the family. */
  half_since: string | null;
  points: { time: string; views: number; share: number }[];
}

/** What /api/v1/browsers returns. */
export interface BrowserVersions {
  step_seconds: number;
  families: { family: string; views: number; mean_ms: number; versions: BrowserVersion[] }[];
  unknown_views: number;
  stats: Stats;
}

/** A budget and its status. limit and value are in unit. */
export interface Budget {
  name: string;
  owner?: string;
  page?: string;
  feature?: string;
  function?: { name: string; resource?: string };
  code?: { by: string; name: string };
  label?: string[];
  metric: string;
  of?: string;
  unit: 'ms' | 'percent' | 'score';
  since: string;
  limit: number;
  min_views: number;
  hysteresis: number;
  status: 'ok' | 'blown' | 'too few views' | 'no data' | 'error';
  blown: boolean;
  sure: boolean;
  value?: Estimate;
  views: number;
  text?: string;
  warnings?: string[];
}

/** Response of /api/v1/budgets. */
export interface Budgets {
  evaluated: string;
  budgets: Budget[];
}

/**
 * The public address and the requests that it received since the start. Users with access to only
 * some pages get only the address.
 */
export interface Arrivals {
  url: string;
  /** Whether the address was set by --public-url. */
  configured: boolean;
  key?: string;
  scripts?: { count: number; last?: string };
  since?: string;
  traces?: number;
  unprofiled?: { outcome: string; views: number; last: string }[];
  refused?: { reason: string; origin?: string; error: string; requests: number; last: string }[];
}
