// Reads the numbers of a panel, and checks whether the output of a command contains them.

/** A displayed number with its unit and, in a table, its row. */
export interface Figure {
  row: string;
  /** The title of its column, or its name. */
  of: string;
  text: string;
}

export type Figures = Figure[];

/** Returns the figures of a panel. It runs in the page, so it uses nothing of this module. */
export function figuresOf(panel: Element): Figures {
  const copy = panel.cloneNode(true) as Element;
  for (const part of copy.querySelectorAll('header, svg, details, .popover, .hidden, .hint, .notice, .names'))
    part.remove();
  const textOf = (of: Element | null | undefined) => {
    const parts: string[] = [];
    const texts = document.createTreeWalker(of ?? document.createElement('i'), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) parts.push(texts.currentNode.textContent ?? '');
    return parts.join(' ').replaceAll(/\s+/g, ' ').trim();
  };
  const figures: Figures = [];
  for (const table of copy.querySelectorAll('table, [role=treegrid]')) {
    const titles = [...table.querySelectorAll('thead th, [role=columnheader]')].map(textOf);
    for (const row of table.querySelectorAll('tbody tr, [role=row]')) {
      const cells = [...row.querySelectorAll('td, th, [role=gridcell], [role=rowheader]')];
      if (row.querySelector('[role=columnheader]')) continue;
      const name = textOf(cells[0]?.querySelector('a, bdi, .name') ?? cells[0]);
      cells.slice(1).forEach((cell, i) => figures.push({ row: name, of: titles[i + 1] ?? '', text: textOf(cell) }));
    }
  }
  for (const item of copy.querySelectorAll('.metric, .kinds dl > div')) {
    figures.push({ row: '', of: textOf(item.querySelector('dt')), text: textOf(item.querySelector('dd')) });
  }
  return figures;
}

const inMs: Record<string, number> = { h: 3.6e6, min: 6e4, s: 1e3, ms: 1 };

interface Value {
  value: number;
  /** Maximum rounding error. */
  off: number;
  /** Whether it is half the width of an interval. */
  half: boolean;
}

/** Returns the numbers in a text, times in ms. */
function valuesOf(text: string): Value[] {
  const plain = text.replaceAll('\u2212', '-').replaceAll(/(\d),(?=\d{3})/g, '$1');
  const found: Value[] = [];
  for (const [, before = '', number = '', unit = ''] of plain.matchAll(
    /(^|[^\w.:/#-])([+-]?\d+(?:\.\d+)?)(?:\s?(ms|min|h|s|%)(?![\w]))?(?![\w/:]|\.\d)/g,
  )) {
    const times = inMs[unit] ?? 1;
    const decimals = number.split('.')[1]?.length ?? 0;
    found.push({ value: Number(number) * times, off: (10 ** -decimals / 2) * times, half: before == '±' });
  }
  return found;
}

/** Columns of dates, and columns that need another query's response. */
const ofOthers = ['trend', 'vs. before', 'budget', 'parts', 'received'];

/** Returns the lines of a printed table for a row. */
function linesOf(text: string, row: string): string[] {
  if (!row || row.length > 100) return [];
  return text.split('\n').filter((line) => line.includes(row));
}

/** Reports whether one of the values equals a figure, within the rounding of both. */
function has(values: Value[], { value, off, half }: Value): boolean {
  const near = (other: number, by: number) => Math.abs(Math.abs(other) - Math.abs(value)) <= off + by + 1e-6;
  if (!half) return values.some((one) => near(one.value, one.off));
  return values.slice(1).some((one, i) => near((one.value - values[i]!.value) / 2, one.off));
}

/** Returns the figures that are missing in a text: in the line of their row, if it is a table. */
export function lacks(text: string, figures: Figures, table: boolean): string[] {
  const missing: string[] = [];
  for (const { row, of, text: cell } of figures) {
    if (ofOthers.includes(of) || /[\u2400-\u243f\ufffd<>]/.test(row)) continue;
    const lines = table ? linesOf(text, row) : [text.replaceAll('":', ' ')];
    if (row && !lines.length) {
      missing.push(`${row}: no such row`);
      continue;
    }
    const printed = (lines.length ? lines : [text]).map(valuesOf);
    for (const figure of valuesOf(cell)) {
      if (!printed.some((values) => has(values, figure))) missing.push(`${row} ${of}: ${cell}`);
    }
  }
  return [...new Set(missing)];
}
