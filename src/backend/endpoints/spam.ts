import type { ChainData, Collection, Holding } from '../source.ts';

/** One signal: how much it indicates spam (0 to 100), and its weight. */
type Explanation = {
  readonly feature: string;
  readonly value: number | boolean;
  readonly feature_score: number;
  readonly feature_weight: number;
};

export type Classification = {
  /** The weighted average of the explanations, 0 to 100; null where there is a verdict in their place. */
  readonly score: number | null;
  /** Null where its source does not say. */
  readonly isSpam: boolean | null;
  readonly explanations: readonly Explanation[];
};

/** A collection with at least this score is spam. */
const SPAM_THRESHOLD = 50;

const WEEK_MS = 7 * 24 * 3_600_000;
const SHORTENERS = ['bit.ly', 'tinyurl.com', 't.co', 'goo.gl', 'is.gd'];
const SUSPICIOUS = /\b(airdrop|bonus|claim|free|gift|redeem|reward|visit|voucher)\b/i;

type Feature = {
  readonly feature: string;
  readonly weight: number;
  /** The signal's value; null when the collection lacks the signal. */
  readonly value: (collection: Collection, now: number) => number | boolean | null;
  readonly score: (value: number | boolean) => number;
};

/** A score of 100 for a count of 0, which falls with the logarithm of the count to 0 at `plenty`. */
const scarcity = (plenty: number) => (value: number | boolean) =>
  100 * Math.max(0, 1 - Math.log10(1 + Number(value)) / Math.log10(1 + plenty));

const bad = (value: number | boolean) => (value === true ? 100 : 0);

const FEATURES: readonly Feature[] = [
  {
    feature: 'trade_volume',
    weight: 0.25,
    value: ({ launchedAt, reputation }, now) =>
      launchedAt !== null && now - launchedAt < WEEK_MS ? null : reputation.trades,
    score: scarcity(1_000),
  },
  {
    feature: 'unique_buyers',
    weight: 0.15,
    value: ({ reputation }) => reputation.buyers,
    score: scarcity(100),
  },
  {
    feature: 'unique_sellers',
    weight: 0.1,
    value: ({ reputation }) => reputation.sellers,
    score: scarcity(100),
  },
  { feature: 'externally_flagged', weight: 0.25, value: ({ reputation }) => reputation.flagged, score: bad },
  {
    feature: 'ipfs_uri_present',
    weight: 0.05,
    value: ({ uri }) => (uri === null ? null : uri.startsWith('ipfs://')),
    score: (value) => (value === true ? 0 : 60),
  },
  {
    feature: 'suspicious_words',
    weight: 0.12,
    value({ name, symbol, uri }) {
      const words = [name, symbol, uri].filter((each) => each !== null);
      return words.length === 0 ? null : SUSPICIOUS.test(words.join(' '));
    },
    score: bad,
  },
  {
    feature: 'url_shortener_in_uri',
    weight: 0.08,
    value: ({ uri }) => (uri === null ? null : SHORTENERS.some((host) => uri.includes(`//${host}/`))),
    score: bad,
  },
];

const round = (value: number) => Math.round(value * 100) / 100;

/**
 * Classifies a collection at the time `now`, in milliseconds since 1970. Signals that it lacks are omitted, also from
 * the average. Without any signal the score is 0. A source's own verdict takes the place of signals.
 */
const classify = (collection: Collection, now: number): Classification => {
  if (collection.verdict !== undefined) return { score: null, isSpam: collection.verdict, explanations: [] };
  const explanations = FEATURES.flatMap(({ feature, weight, value, score }): Explanation[] => {
    const signal = value(collection, now);
    if (signal === null) return [];
    return [{ feature, value: signal, feature_score: round(score(signal)), feature_weight: weight }];
  });
  const weights = explanations.reduce((sum, each) => sum + each.feature_weight, 0);
  const weighted = explanations.reduce((sum, each) => sum + each.feature_score * each.feature_weight, 0);
  const score = weights === 0 ? 0 : round(weighted / weights);
  return { score, isSpam: score >= SPAM_THRESHOLD, explanations };
};

type ClassifiedHolding = { readonly holding: Holding; readonly classification: Classification };

/**
 * Classifies holdings at the time `now`, and leaves out those of unknown contracts. A wallet holds many tokens of few
 * collections, so each collection is classified once.
 */
export const classifyAll = async (
  data: ChainData,
  holdings: readonly Holding[],
  now: number,
): Promise<readonly ClassifiedHolding[]> => {
  const classifications = new Map<string, Classification | null>();
  const classified: ClassifiedHolding[] = [];
  for (const holding of holdings) {
    const { chain, contract } = holding;
    const key = `${chain.id}/${contract}`;
    let classification = classifications.get(key);
    if (classification === undefined) {
      const collection = await data.collection(chain.id, contract);
      classification = collection === null ? null : classify(collection, now);
      classifications.set(key, classification);
    }
    if (classification !== null) classified.push({ holding, classification });
  }
  return classified;
};
