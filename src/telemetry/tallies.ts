import Counter from 'prom-client/lib/counter.js';
import Histogram from 'prom-client/lib/histogram.js';

/**
 * Metrics of which each series is counted through an object of its own. prom-client finds a series by the text of its
 * labels, which takes longer than all that a request counts here.
 */

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** Returns the same function, which makes its result for each key once. The number of keys must be bounded. */
export const createOnce = <Key, Result>(make: (key: Key) => Result): ((key: Key) => Result) => {
  const made = new Map<Key, Result>();
  return (key) => {
    const known = made.get(key);
    if (known) return known;
    const result = make(key);
    made.set(key, result);
    return result;
  };
};

/** A counter whose series are numbers that their owners raise. */
export class TalliedCounter<Label extends string> {
  readonly #tallies: {
    readonly labels: Labels<Label>;
    readonly tally: { value: number };
    counted: number;
  }[] = [];

  /** `config` is that of prom-client. */
  constructor(config: ConstructorParameters<typeof Counter<Label>>[0]) {
    const tallies = this.#tallies;
    new Counter({
      ...config,
      collect() {
        for (const one of tallies) {
          const { labels, tally } = one;
          this.inc(labels, tally.value - one.counted);
          one.counted = tally.value;
        }
      },
    });
  }

  /** Adds a series, which begins at 0. Add each only once. */
  add(labels: Labels<Label>): { value: number } {
    const tally = { value: 0 };
    this.#tallies.push({ labels, tally, counted: 0 });
    return tally;
  }
}

/** One series of a histogram. */
type Distribution = {
  readonly bounds: readonly number[];
  /** The observations up to each bound and above the one before it, and those above all. */
  readonly counts: readonly number[];
  readonly sum: number;
};

class Tally implements Distribution {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let bucket = 0;
    for (const bound of this.bounds) {
      if (value <= bound) break;
      bucket += 1;
    }
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }
}

/** A histogram whose series are distributions to which their owners add. */
export class TalliedHistogram<Label extends string> extends Histogram<Label> {
  readonly #name: string;
  readonly #help: string;
  readonly #bounds: readonly number[];
  readonly #series: { readonly labels: Labels<Label>; readonly distribution: Distribution }[] = [];

  constructor(config: ConstructorParameters<typeof Histogram<Label>>[0] & { readonly buckets: number[] }) {
    super(config);
    this.#name = config.name;
    this.#help = config.help;
    this.#bounds = config.buckets;
  }

  /** Adds a series, which begins empty. Add each only once. */
  add(labels: Labels<Label>): Tally {
    const tally = new Tally(this.#bounds);
    this.#series.push({ labels, distribution: tally });
    return tally;
  }

  /** Replaces all series by these, which are counted elsewhere, with bounds of their own. */
  show(series: readonly { readonly labels: Labels<Label>; readonly distribution: Distribution }[]): void {
    this.#series.splice(0, Infinity, ...series);
  }

  /** What prom-client's registry writes, and `get` copies for a sum over processes. */
  async getForPromString() {
    const sharedLabels = {};
    const values = this.#series.flatMap(({ labels, distribution: { bounds, counts, sum } }) => {
      let count = 0;
      const buckets = counts.map((counted, index) => {
        count += counted;
        const le = bounds[index] ?? '+Inf';
        return { metricName: `${this.#name}_bucket`, labels: { ...labels, le }, sharedLabels, value: count };
      });
      return [
        ...buckets,
        { metricName: `${this.#name}_sum`, labels, sharedLabels, value: sum },
        { metricName: `${this.#name}_count`, labels, sharedLabels, value: count },
      ];
    });
    return { name: this.#name, help: this.#help, type: 'histogram', aggregator: 'sum', values };
  }
}
