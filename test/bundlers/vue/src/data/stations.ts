export interface Station {
  id: number;
  name: string;
  height: number;
  readings: Float64Array;
}

/** An xorshift generator, with the same numbers in each run. */
export class Noise {
  #state: number;
  static readonly seed = 88172645;

  constructor(seed = Noise.seed) {
    this.#state = seed | 0;
  }

  #step() {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return this.#state >>> 0;
  }

  get unit() {
    return this.#step() / 2 ** 32;
  }

  between = (low: number, high: number) => low + this.unit * (high - low);
}

const parts = ['Alt', 'Berg', 'Dorn', 'Eich', 'Feld', 'Hoch', 'Kirch', 'Lind', 'Neu', 'Ober', 'Sand', 'Wald'];

function* names(noise: Noise) {
  const part = () => parts[Math.floor(noise.unit * parts.length)]!;
  for (;;) yield part() + part().toLowerCase();
}

/** Temperatures of a year that vary around the season's. */
function readings(noise: Noise, height: number) {
  const values = new Float64Array(365);
  let drift = 0;
  return values.map((_, day) => {
    drift = 0.8 * drift + noise.between(-2, 2);
    return 11 - height / 150 - 10 * Math.cos((2 * Math.PI * day) / 365) + drift;
  });
}

export async function loadStations(count: number): Promise<Station[]> {
  const noise = new Noise();
  const stations: Station[] = [];
  for (const name of names(noise)) {
    const height = Math.round(noise.between(0, 1200));
    stations.push({ id: stations.length, name, height, readings: readings(noise, height) });
    if (stations.length == count) return stations;
    if (stations.length % 1000 == 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return stations;
}
