import { builder } from '../graph/builder.ts';
import { derivedField } from '../graph/plan/derived-field.ts';
import type { Explanation } from './rest.ts';

const FEATURES = {
  TRADE_VOLUME: { description: 'The number of trades since launch: very few suggest spam.' },
  UNIQUE_BUYERS: { description: 'The number of distinct buyers: few suggest inorganic activity.' },
  UNIQUE_SELLERS: { description: 'The number of distinct sellers: few suggest inorganic activity.' },
  EXTERNALLY_FLAGGED: { description: 'Whether third parties flagged the collection.' },
  IPFS_URI_PRESENT: { description: 'Whether metadata URIs use IPFS.' },
  SUSPICIOUS_WORDS: { description: 'Whether names, symbols or URIs contain terms that scams use.' },
  URL_SHORTENER_IN_URI: { description: 'Whether metadata URIs use link shorteners.' },
} as const;

type Feature = keyof typeof FEATURES;

const SpamFeature = builder.enumType('SpamFeature', {
  description: 'A signal that contributes to the spam score.',
  values: FEATURES,
});

export const SpamExplanation = builder.objectRef<Explanation>('SpamExplanation').implement({
  description: 'One signal and its part in the spam score.',
  fields: (t) => ({
    feature: t.field({
      type: SpamFeature,
      nullable: true,
      description: 'The signal. Null when this gateway does not know it: see featureName.',
      ...derivedField(({ featureName }: Explanation) => knownFeature(featureName)),
    }),
    featureName: t.exposeString('featureName', {
      description: 'The name of the signal as the service wrote it.',
    }),
    value: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description: 'The value of the signal: a number or a boolean. Null when the service omits it.',
    }),
    score: t.exposeFloat('score', {
      nullable: true,
      description: "The signal's own score. Null when the service omits it.",
    }),
    weight: t.exposeFloat('weight', {
      nullable: true,
      description: 'The weight of the score in the average. Null when the service omits it.',
    }),
  }),
});

const knownFeature = (name: string): Feature | null => {
  const constant = name.toUpperCase();
  return Object.hasOwn(FEATURES, constant) ? (constant as Feature) : null;
};
