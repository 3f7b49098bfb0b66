// The boxes of a flame graph as pixels. All boxes of a row have one height, so that a row is one line of pixels, which is
// stretched when it is drawn: that is some dozens of operations of the canvas instead of tens of thousands.

/** Lines of pixels, one a row of boxes. */
export class Raster {
  readonly #canvas = document.createElement('canvas');
  readonly #context = this.#canvas.getContext('2d', { willReadFrequently: true })!;
  readonly #values = new Map<string, number>();
  #image = new ImageData(1, 1);
  #pixels = new Uint32Array(1);
  #line = 0; // where the line of a row begins

  /** Empties it for so many rows of so many device pixels. */
  begin(width: number, rows: number): void {
    if (this.#image.width != width || this.#image.height != rows) {
      this.#canvas.width = width;
      this.#canvas.height = rows;
      this.#image = new ImageData(width, rows);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    } else this.#pixels.fill(0);
  }

  /** Begins with a row. */
  row(row: number): void {
    this.#line = row * this.#image.width;
  }

  /** Fills the pixels of the row from one to before another. */
  fill(from: number, to: number, colour: string): void {
    this.#pixels.fill(this.#valueOf(colour), this.#line + from, this.#line + Math.min(to, this.#image.width));
  }

  /** Fills a pixel of the row, if nothing is there. */
  dot(at: number, colour: string): void {
    const place = this.#line + at;
    if (at < this.#image.width && this.#pixels[place] == 0) this.#pixels[place] = this.#valueOf(colour);
  }

  /** Draws a row, once all are filled and put. Lengths are CSS pixels. */
  draw(context: CanvasRenderingContext2D, row: number, y: number, width: number, height: number): void {
    context.drawImage(this.#canvas, 0, row, this.#image.width, 1, 0, y, width, height);
  }

  /** Takes over what was filled, to be drawn. */
  put(): void {
    this.#context.putImageData(this.#image, 0, 0);
  }

  /** The value of a pixel with a colour #rrggbb. */
  #valueOf(colour: string): number {
    const known = this.#values.get(colour);
    if (known != undefined) return known;
    const bytes = new Uint8Array([1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)).concat(255));
    const value = new Uint32Array(bytes.buffer)[0]!; // in the order of bytes that the machine has, as ImageData
    this.#values.set(colour, value);
    return value;
  }
}
