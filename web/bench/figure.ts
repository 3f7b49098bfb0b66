// Results of measurements, and quantiles of many rounds.

/** A measured number. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The goal; '' if the number is only reported. */
  reach: string;
}

/** Returns a quantile of some numbers. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}
