// What the API answers, as query/api/openapi.yaml describes it. Times in …_us are exact sums in µs over page views; those
// in …_ms and all spreads are milliseconds of one page view; intervals are of 95 %.

import type { FrameColumns } from '../tree/tree.ts';

/** A value and its interval; without high nothing can be said about how far off it may be. */
export interface Estimate {
  value: number;
  low?: number;
  high?: number;
}

/** How a time is spread over page views, in ms. */
export interface Spread {
  mean: Estimate;
  p50: Estimate;
  p75: Estimate;
  p95: Estimate;
  /** Page views that are one of a hundred and have half of all the time: the mean is of those. share is from 0 to 1. */
  few?: { views: number; share: number };
}

/** A bar of a histogram: page views with a time in [low_ms, high_ms). */
export interface Bar {
  low_ms: number;
  high_ms: number;
  count: number;
}

/** How much of the time of scripts has the names of the sources. */
export interface Names {
  self_us: number;
  named_us: number;
  builds: number;
  missing?: { resource: string; release?: string; self_us: number; problem: string }[];
  more_missing?: number;
  bounded?: number;
}

/** What a response rests on. */
export interface Stats {
  partitions: number;
  traces: number;
  bytes: number;
  folded_views?: number;
  names?: Names;
  warnings?: string[];
}

/** Page views of some time. coverage counts those without a profile, by the reason. */
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
  /** Of a point of all the time. */
  people?: PeoplesTime;
}

/** The mean times all page views that are stood for: on average over days if per_day is set, else all of it. */
export interface PeoplesTime {
  hours: number;
  /** For which there is data in the time that is selected. */
  days: number;
  per_day: boolean;
}

/** A value of a label with its page views. */
export interface ListItem extends Point {
  value: string;
}

/** What pages add up to. missing are page views without a profile, by the reason. */
export interface ListSum {
  views: number;
  population: number;
  missing: Record<string, number>;
  self_us: number;
  own_us: number;
  samples: number;
}

/** What /api/v1/pages, features, releases and coverage return. */
export interface List {
  key: string;
  values: ListItem[];
  more?: number;
  /** Of coverage: what all pages add up to, those that are not listed included. */
  all?: ListSum;
  no_spread?: string;
  stats: Stats;
}

/** What /api/v1/cost returns. */
export interface Cost {
  arms: { arm: 'profiled' | 'header' | 'none'; views: number; page_views: number }[];
  control?: 'header' | 'none';
  /** null if that is not known. */
  fair: boolean | null;
  /** Why it is not fair. Then there are no differences. */
  unfair?: string;
  vitals: VitalCost[];
  /** Why something is not there. */
  missing?: string[];
  stats: Stats;
}

/** The difference that profiling makes to a Web Vital. */
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

/** What /api/v1/series returns. */
export interface Series {
  step_seconds: number;
  groups: SeriesGroup[];
  no_spread?: string;
  stats: Stats;
}

/** Where a function is. */
export interface Place {
  name: string;
  resource?: string;
  line?: number;
  column?: number;
}

/** A function of /api/v1/top, or a part of the code that stands for several. */
export interface TopFunction extends Place {
  source_url?: string;
  self_us: number;
  total_us: number;
  samples: number;
  reach: number;
  self?: Spread;
  total?: Spread;
}

/** What /api/v1/top returns. */
export interface Top {
  views: number;
  traces: number;
  self_us: number;
  /** The part of self_us that the profiling script took, where a row of its own shows it. */
  own_us: number;
  functions: TopFunction[];
  other_functions: { count: number; self_us: number };
  no_spread?: string;
  stats: Stats;
}

/** A number of each side. */
export interface Pair {
  a: number;
  b: number;
}

/** The status of a change. */
export type Status = 'slower' | 'faster' | 'new' | 'gone' | 'moved' | 'with the page' | 'within noise' | 'not known' | 'too few views';

/**
 * A change from A to B. mean_ms are A's mean and B's with the traffic mix and browser versions of A; their difference is change_ms. With too few
 * page views they are as measured. Unknown values are null. level is the level of all intervals, such as 0.99.
 */
export interface Change {
  mean_ms: Pair;
  change_ms: Estimate;
  /** The change is that at an equal rest of the page view; plain_change_ms is the change whatever the rest is. */
  at_equal_rest?: boolean;
  plain_change_ms?: Estimate;
  /** Means over all page views: their difference is the sum of the change, mix_ms, browser_ms and left_out_ms. */
  measured_ms: Pair;
  mix_ms: Estimate | null;
  /** The effect of B's browser versions alone. */
  browser_ms: Estimate | null;
  left_out_ms: number | null;
  level: number;
  /** change_ms divided by A's mean, from -1 on; absent where A has none. */
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

/** The change of a function. share is the change divided by the page's change; from is a different place in A. */
export interface FunctionChange extends Change, Place {
  source_url?: string;
  from?: Place;
  total_ms: Pair;
  reach: Pair;
  code?: Code;
  unadjusted?: boolean;
  share?: number;
}

/** What /api/v1/compare returns. */
export interface Comparison {
  method_of_sums: 'views' | 'sums';
  note: string;
  views: Pair;
  min_views: number;
  enough: boolean;
  false_discovery: number;
  method: string;
  total: Change;
  strata: { labels: Record<string, string>; views: Pair; share: Pair; mean_ms: Pair; use: string; browser_effect?: number }[];
  /** The shares are parts of the page views of the family; effect is relative, with an interval of 95 %. */
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

/** A change on one page: ms of a page view, or a score for cls. */
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

/** A commit of a release, with its address if the upload said where. */
export interface Commit {
  sha: string;
  author?: string;
  title?: string;
  url?: string;
}

/** A change that was found unasked. */
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
  /** The first one has the most of it. */
  pages: PageChange[];
  consequences?: { page: string; what: What; change: Estimate }[];
  moved?: { page: string; what: What; change: Estimate }[];
  causes?: { kind: string; text: string; function?: Place; source_url?: string; commits?: Commit[] }[];
  causes_note?: string;
  handled?: { by?: string; at: string; note?: string; until?: string };
  owner?: string;
  team?: string;
}

/** What /api/v1/changes returns. */
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

/** What /api/v1/changes/{id} returns. */
export interface ChangeReport extends FoundChange {
  series: {
    page: string;
    unit: 'ms' | '';
    points: ChangePoint[];
    /** Hours around the step, of the release before and of that with the change; absent if hours are kept no more. */
    hours?: { release: string; points: ChangePoint[] }[];
    releases: { release: string; begin: string }[];
  } | null;
}

/** What /api/v1/labels returns. */
export interface Labels {
  labels: { key: string; values: { value: string; views: number }[]; more?: number }[];
}

/** A single page view. time_ms and long tasks (of 50 ms or more) are within the selection. */
export interface ViewEntry {
  quantile: number;
  id: string;
  /** On which it began. */
  page: string;
  release?: string;
  environment?: string;
  labels?: Record<string, string>;
  received: string;
  traces: number;
  time_ms: number;
  /** Of the profiling script, which is not in time_ms. */
  own_ms: number;
  long_task_count: number;
  long_task_ms: number;
}

/** What /api/v1/views returns: one page view for each quantile, and how many they were chosen of. */
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

/** What /api/v1/view returns: what one page view went through. Times are µs since the page's time origin. */
export interface ViewResponse extends ViewEntry, Stretch {
  interval_us: number;
  strings: string[];
  frames: FrameColumns;
  /** Sorted by start, callers first: of which frame, how many calls deep, from when to when. */
  calls: { frame: number[]; level: number[]; start_us: number[]; end_us: number[] };
  /** Routes, features and labels (KEY=VALUE), sorted by start. */
  spans: (Stretch & { kind: 'page' | 'feature' | 'label'; name: string })[];
  long_tasks: Stretch[];
  /** In which the browser took no samples. */
  unsampled: Stretch[];
  stats: Stats;
}

/** A Web Vital over page views. The 75th percentile determines the rating. */
export interface VitalReport {
  name: string;
  unit: 'ms' | 'score';
  /** Page views that reported it, and those that these stand for. */
  views: number;
  page_views: number;
  p50: Estimate;
  p75: Estimate;
  p95: Estimate;
  /** Shares of the page views, from 0 to 1. */
  good: number;
  poor: number;
  rating: string;
  /** What LCP and INP are made up of, in order; percentiles of parts do not add up. */
  parts?: VitalPart[];
  /** The elements that LCP, INP or CLS is of in the most page views, and how many others there are. */
  elements?: VitalElement[];
  more_elements?: number;
}

/** A stretch of the time of a Web Vital, in ms, over the page views that told it. */
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
  /** Of the page views that reported the vital, from 0 to 1. */
  share: number;
  p75: Estimate;
  poor: number;
  rating: string;
  parts?: VitalPart[];
}

/** What /api/v1/vitals returns: how page views were for visitors, page by page. */
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

/** What /api/v1/catalog returns. */
export interface Catalog {
  entries: Entry[];
  warnings?: string[];
  /** Of a demo: what is in it. */
  demo?: string;
}

/** What /api/v1/newest returns. */
export interface ReleasePair {
  release?: string;
  views: number;
  compare_release?: string;
  compare_views: number;
  min_views: number;
  /** Why there is no verdict. */
  missing?: string;
  /** That the order of the releases is a guess. */
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

/** A budget and how things stand with it. limit and value are in unit. */
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

/** What /api/v1/budgets returns. */
export interface Budgets {
  evaluated: string;
  budgets: Budget[];
}

/** The public address and the requests that it received since the start. Users of some pages get the address alone. */
export interface Arrivals {
  url: string;
  /** Whether the address is that of --public-url. */
  configured: boolean;
  key?: string;
  scripts?: { count: number; last?: string };
  since?: string;
  traces?: number;
  unprofiled?: { outcome: string; views: number; last: string }[];
  refused?: { reason: string; origin?: string; error: string; requests: number; last: string }[];
}
