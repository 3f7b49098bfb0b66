// What all measurements give, and what they take of many rounds.

/** One number that was measured. */
export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What is aimed for; '' if it is only reported. */
  reach: string;
}

/** A quantile of some numbers. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}
