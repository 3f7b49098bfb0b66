/** A linear congruential generator, with the same numbers in each run. */
export class Random {
  static #shared: Random;
  #state: number;

  static {
    Random.#shared = new Random(20261101);
  }

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  static get shared() {
    return Random.#shared;
  }

  #next() {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0;
    return this.#state / 2 ** 32;
  }

  below(limit: number) {
    return Math.floor(this.#next() * limit);
  }

  pick = <T,>(choices: readonly T[]): T => choices[this.below(choices.length)]!;

  *numbers(count: number, limit: number) {
    for (let i = 0; i < count; i++) yield this.below(limit);
  }
}
