import type { Station } from './stations';

export interface Climate {
  station: Station;
  mean: number;
  warmest: number;
  frost: number;
}

export const mean = (values: ArrayLike<number>) => {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  return sum / values.length;
};

/** The value below which a part of the values is, by sorting. */
export function quantile(values: Float64Array, part: number) {
  const sorted = Float64Array.from(values).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]!;
}

const frostDays = (values: Float64Array) => values.reduce((days, value) => (value < 0 ? days + 1 : days), 0);

export function climateOf(station: Station): Climate {
  const { readings } = station;
  return { station, mean: mean(readings), warmest: quantile(readings, 0.99), frost: frostDays(readings) };
}

export const comparisons = {
  name: (a: Climate, b: Climate) => a.station.name.localeCompare(b.station.name),
  height: (a: Climate, b: Climate) => a.station.height - b.station.height,
  mean(a: Climate, b: Climate) {
    return a.mean - b.mean;
  },
  warmest: (a: Climate, b: Climate) => a.warmest - b.warmest,
  frost: function (a: Climate, b: Climate) {
    return a.frost - b.frost;
  },
};

export type Column = keyof typeof comparisons;
