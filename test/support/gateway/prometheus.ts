/** Prometheus' text format, read strictly: whatever a scraper might stumble over is an error here. */

export type Family = {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  /** Values by series, as it is written: `name{label="value"}`. */
  readonly series: ReadonlyMap<string, number>;
};

type OpenFamily = Family & { readonly series: Map<string, number> };

const SAMPLE =
  /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\[\\"n])*",?)*\})? (-?[0-9.e+-]+|\+Inf|-Inf|Nan)$/;
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
};

/** Families by name. Throws with the line that is not of the format. */
export const readExposition = (text: string): ReadonlyMap<string, Family> => {
  const families = new Map<string, OpenFamily>();
  const helps = new Map<string, string>();
  let current: OpenFamily | null = null;
  for (const line of text.split('\n').filter(Boolean)) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') helps.set(name, rest);
    else if (keyword === 'TYPE') {
      current = { name, type: rest, help: helps.get(name) ?? '', series: new Map() };
      if (!(rest in SUFFIXES) || current.help === '' || families.has(name)) throw new Error(line);
      families.set(name, current);
    } else take(line, current);
  }
  for (const family of families.values()) if (family.type === 'histogram') expectBuckets(family);
  return families;
};

const take = (line: string, family: OpenFamily | null): void => {
  const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
  const suffixes = SUFFIXES[family?.type ?? ''] ?? [];
  const series = `${name}${labels}`;
  if (!family || !suffixes.some((suffix) => name === family.name + suffix)) throw new Error(line);
  if (family.series.has(series)) throw new Error(`twice: ${line}`);
  if (family.type === 'counter' && !(Number(value) >= 0)) throw new Error(line);
  family.series.set(series, Number(value));
};

/** Buckets only grow, and the last of them is the count. */
const expectBuckets = ({ name, series }: Family): void => {
  const last = new Map<string, number>();
  for (const [key, value] of series) {
    if (!key.startsWith(`${name}_bucket`)) continue;
    const rest = key.replace(/le="[^"]*",?/, '');
    if (value < (last.get(rest) ?? 0)) throw new Error(`a bucket is smaller than the one before it: ${key}`);
    last.set(rest, value);
  }
  for (const [rest, value] of last) {
    const count = rest.replace('_bucket', '_count').replace('{}', '').replace(',}', '}');
    if (series.get(count) !== value) throw new Error(`expected ${count} to be ${value}`);
  }
};

/** What a gateway says of itself now. */
export const scrape = async (gatewayUrl: string) => {
  const response = await fetch(`${gatewayUrl}/metrics`);
  const families = readExposition(await response.text());
  const series = new Map([...families.values()].flatMap((family) => [...family.series]));
  return {
    families,
    series,
    contentType: response.headers.get('content-type'),
    /** The sum of all series whose name begins so and which have all of these labels; 0 where there is none. */
    sum: (name: string, labels: Readonly<Record<string, string>> = {}): number =>
      [...series]
        .filter(([key]) => key === name || key.startsWith(`${name}{`))
        .filter(([key]) =>
          Object.entries(labels).every(([label, value]) => key.includes(`${label}="${value}"`)),
        )
        .reduce((sum, [, value]) => sum + value, 0),
  };
};
