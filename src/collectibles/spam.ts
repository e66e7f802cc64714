import { builder } from '../graph/builder.ts';
import type { Explanation } from './rest.ts';

const FEATURES = {
  TRADE_VOLUME: { description: 'Trades since launch; very few suggest spam.' },
  UNIQUE_BUYERS: { description: 'Distinct buyers; few suggest inorganic activity.' },
  UNIQUE_SELLERS: { description: 'Distinct sellers; few suggest inorganic activity.' },
  EXTERNALLY_FLAGGED: { description: 'Third parties flagged the collection.' },
  IPFS_URI_PRESENT: { description: 'Whether metadata URIs use IPFS.' },
  SUSPICIOUS_WORDS: { description: 'Names, symbols or URIs contain terms that scams use.' },
  URL_SHORTENER_IN_URI: { description: 'Metadata URIs use link shorteners.' },
} as const;

type Feature = keyof typeof FEATURES;

const SpamFeature = builder.enumType('SpamFeature', {
  description: 'A signal that the spam score is made of.',
  values: FEATURES,
});

export const SpamExplanation = builder.objectRef<Explanation>('SpamExplanation').implement({
  description: 'One signal and its part in the spam score.',
  fields: (t) => ({
    feature: t.field({
      type: SpamFeature,
      nullable: true,
      description: 'Null when this gateway does not know the feature: see featureName.',
      resolve: ({ featureName }) => knownFeature(featureName),
    }),
    featureName: t.exposeString('featureName', { description: 'As the service wrote it.' }),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description: 'A number or a boolean. Null where the service does not say.',
    }),
    score: t.exposeFloat('score', {
      nullable: true,
      description: "The signal's own score. Null where the service does not say.",
    }),
    weight: t.exposeFloat('weight', {
      nullable: true,
      description: "The score's weight in the average. Null where the service does not say.",
    }),
  }),
});

const knownFeature = (name: string): Feature | null => {
  const constant = name.toUpperCase();
  return Object.hasOwn(FEATURES, constant) ? (constant as Feature) : null;
};
