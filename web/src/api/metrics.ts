// Parses the daemon's Prometheus metrics.

/** A value with its labels. */
interface Sample {
  labels: Record<string, string>;
  value: number;
}

/** The metrics of a process at one time. */
export class Metrics {
  readonly #samples = new Map<string, Sample[]>();

  /** Parses the text format of Prometheus and ignores lines that are not samples. */
  constructor(text: string) {
    for (const line of text.split('\n')) {
      const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)(?: \d+)?$/.exec(line) ?? [];
      if (!name || value == undefined) continue;
      const of = this.#samples.get(name) ?? [];
      of.push({ labels: labelsOf(labels), value: numberOf(value) });
      this.#samples.set(name, of);
    }
  }

  /** Reports whether a metric with this name exists. */
  has(name: string): boolean {
    return this.#samples.has(name);
  }

  /** Returns the sum of the samples of a metric with these labels, 0 if there are none. */
  sum(name: string, labels: Record<string, string> = {}): number {
    let sum = 0;
    for (const sample of this.#with(name, labels)) sum += sample.value;
    return sum;
  }

  /** Returns the sums of the samples of a metric by the value of a label. */
  by(name: string, label: string): Map<string, number> {
    const sums = new Map<string, number>();
    for (const { labels, value } of this.#samples.get(name) ?? []) {
      const key = labels[label] ?? '';
      sums.set(key, (sums.get(key) ?? 0) + value);
    }
    return sums;
  }

  /**
   * Returns a quantile of a histogram since the start, with linear interpolation within its bucket,
   * as Prometheus does.
   */
  quantile(name: string, part: number, labels: Record<string, string> = {}): number | undefined {
    const buckets = new Map<number, number>();
    for (const sample of this.#with(`${name}_bucket`, labels)) {
      const bound = numberOf(sample.labels.le ?? '');
      buckets.set(bound, (buckets.get(bound) ?? 0) + sample.value);
    }
    const sorted = [...buckets].sort(([a], [b]) => a - b);
    const rank = part * (sorted.at(-1)?.[1] ?? 0);
    if (!rank) return undefined;
    let [below, before] = [0, 0];
    for (const [bound, count] of sorted) {
      if (count >= rank)
        return bound == Infinity ? below : below + ((rank - before) / (count - before)) * (bound - below);
      [below, before] = [bound, count];
    }
    return undefined;
  }

  #with(name: string, wanted: Record<string, string>): Sample[] {
    const pairs = Object.entries(wanted);
    return (this.#samples.get(name) ?? []).filter(({ labels }) => pairs.every(([key, value]) => labels[key] == value));
  }
}

function numberOf(text: string): number {
  return /^\+?Inf$/i.test(text) ? Infinity : /^-Inf$/i.test(text) ? -Infinity : Number(text);
}

/** Parses code="200",path="/x". */
function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, key = '', value = ''] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
    labels[key] = value.replace(/\\(.)/g, (_, letter) => (letter == 'n' ? '\n' : letter));
  }
  return labels;
}
