// The boxes of a flame graph as pixels. All boxes of a row have one height, so a row is one line of
// pixels that is stretched when drawn. This takes dozens of canvas operations instead of tens of
// thousands.

/** Lines of pixels, one per row of boxes. */
export class Raster {
  readonly #canvas = document.createElement('canvas');
  readonly #context = this.#canvas.getContext('2d', { willReadFrequently: true })!;
  readonly #values = new Map<string, number>();
  #image = new ImageData(1, 1);
  #pixels = new Uint32Array(1);
  #line = 0; // index of the row's first pixel

  /** Clears it and sets the number of rows and their width in device pixels. */
  begin(width: number, rows: number): void {
    if (this.#image.width != width || this.#image.height != rows) {
      this.#canvas.width = width;
      this.#canvas.height = rows;
      this.#image = new ImageData(width, rows);
      this.#pixels = new Uint32Array(this.#image.data.buffer);
    } else this.#pixels.fill(0);
  }

  /** Starts a row. */
  row(row: number): void {
    this.#line = row * this.#image.width;
  }

  /** Fills pixels of the row, without the last one. */
  fill(from: number, to: number, colour: string): void {
    this.#pixels.fill(this.#valueOf(colour), this.#line + from, this.#line + Math.min(to, this.#image.width));
  }

  /** Fills a pixel of the row if it is empty. */
  dot(at: number, colour: string): void {
    const place = this.#line + at;
    if (at < this.#image.width && this.#pixels[place] == 0) this.#pixels[place] = this.#valueOf(colour);
  }

  /** Draws a row, after all rows are filled and put. Lengths are CSS pixels. */
  draw(context: CanvasRenderingContext2D, row: number, y: number, width: number, height: number): void {
    context.drawImage(this.#canvas, 0, row, this.#image.width, 1, 0, y, width, height);
  }

  /** Makes the filled pixels available for drawing. */
  put(): void {
    this.#context.putImageData(this.#image, 0, 0);
  }

  /** The pixel value of a colour #rrggbb. */
  #valueOf(colour: string): number {
    const known = this.#values.get(colour);
    if (known != undefined) return known;
    const bytes = new Uint8Array([1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)).concat(255));
    const value = new Uint32Array(bytes.buffer)[0]!; // in the byte order of the machine, as in ImageData
    this.#values.set(colour, value);
    return value;
  }
}
