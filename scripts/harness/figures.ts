import { createHistogram } from 'node:perf_hooks';
import process from 'node:process';

/** Figures of benches and soaks, and how they are shown. */

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The middle value; NaN without one. */
export const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;

export type TimesSummary = {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
};

/** Times in milliseconds, kept as a histogram of microseconds with three digits. */
export class Times {
  readonly #histogram = createHistogram();
  #maxMs = 0;

  add(ms: number): void {
    this.#histogram.record(Math.max(1, Math.round(ms * 1000)));
    this.#maxMs = Math.max(this.#maxMs, ms);
  }

  /** Without a time, all are NaN or 0. */
  summary(): TimesSummary {
    const { count } = this.#histogram;
    const at = (percentile: number) =>
      count === 0 ? Number.NaN : Math.min(this.#maxMs, this.#histogram.percentile(percentile) / 1000);
    return { count, p50Ms: at(50), p99Ms: at(99), maxMs: this.#maxMs };
  }
}

export const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Rows of cells as a Markdown table: the first row is its head, and columns but the first one are numbers. */
export const tableOf = (rows: readonly (readonly string[])[]): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const padded = (cell: string, column: number) =>
    column > 0 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0);
  const line = (cells: readonly string[]) => `| ${cells.map(padded).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
};

/** A number with this many decimals; a dash if it was not measured. */
export const decimals = (value: number, digits = 2): string =>
  Number.isFinite(value) ? value.toFixed(digits) : '–';

/** A whole number in groups of three digits; a dash if it was not measured. */
export const whole = (value: number): string =>
  Number.isFinite(value) ? Math.round(value).toLocaleString('en') : '–';
