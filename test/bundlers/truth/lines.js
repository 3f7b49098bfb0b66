/** The lines of a text, with the line terminators of ECMAScript. */
export class Lines {
  #starts = [0];

  /** @param {string} text */
  constructor(text) {
    for (const match of text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) this.#starts.push(match.index + match[0].length);
  }

  /**
   * Line and column, both from 1.
   * @param {number} offset
   */
  place(offset) {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle] <= offset) low = middle;
      else high = middle;
    }
    return { line: low + 1, column: offset - this.#starts[low] + 1 };
  }
}
