import { builder } from '../../graph/builder.ts';
import { badUserInput } from '../../graph/errors.ts';
import { derivedField } from '../../graph/plan/plannable.ts';
import { changeRatio } from '../../lib/decimal.ts';
import { type Details, detailsOf, hourDetail, MAX_HOURS, NO_DETAILS } from '../../upstream/page.ts';

/** The price of one whole token at an earlier hour. */
export type HistoricalPriceRecord = {
  readonly hoursAgo: number;
  /** Null where there was none. */
  readonly priceUsd: string | null;
  /** The price at the time of the answer; null or absent without one. */
  readonly priceNowUsd?: string | null;
};

/** Since now is not a part of the record as upstream sends it, the kernel can't write it. */
const RATIO = {
  entry: { kind: 'value', properties: ['priceUsd'], as: 'decimal', isNullable: true },
  derive: (record: object): string | null => {
    const { priceUsd, priceNowUsd = null } = record as HistoricalPriceRecord;
    return changeRatio(priceNowUsd, priceUsd);
  },
} as const;

export const HistoricalPrice = builder.objectRef<HistoricalPriceRecord>('HistoricalPrice').implement({
  description: 'The price of one whole token at an earlier hour.',
  fields: (t) => ({
    hoursAgo: t.exposeInt('hoursAgo', { description: 'How many hours before the answer.' }),
    priceUsd: t.expose('priceUsd', {
      type: 'Decimal',
      nullable: true,
      description: 'The price in US dollars. Null when the token had none then.',
    }),
    changeRatio: t.field({
      type: 'Decimal',
      nullable: true,
      description:
        'The price now divided by the price then, minus 1, to 18 decimal places. Null when either is unknown, or the price then was zero.',
      ...derivedField(RATIO),
    }),
  }),
});

type WithHistory = {
  readonly priceUsd: string | null;
  readonly priceHistory: readonly HistoricalPriceRecord[] | null;
};

/** The prices of an item at these hours, in their order: the request may have asked for others, too. */
export const pricesAt = (
  { priceUsd, priceHistory }: WithHistory,
  hoursAgo: readonly number[],
): readonly HistoricalPriceRecord[] =>
  hoursAgo.map((hours) => ({
    hoursAgo: hours,
    priceUsd: priceHistory?.find((price) => price.hoursAgo === hours)?.priceUsd ?? null,
    priceNowUsd: priceUsd,
  }));

/** The details that are the prices of these hours. Throws BAD_USER_INPUT for hours that upstream would refuse. */
export const detailsOfHours = (hoursAgo: readonly number[] | null | undefined): Details => {
  const hours = new Set(hoursAgo);
  if (hours.size === 0) return NO_DETAILS;
  if (hours.size > MAX_HOURS)
    throw badUserInput(`Expected the prices of at most ${MAX_HOURS} hours, got ${hours.size}.`);
  const wrong = [...hours].find((each) => each < 1);
  if (wrong !== undefined) throw badUserInput(`Expected whole hours from 1 on, got ${wrong}.`);
  return detailsOf([...hours].map(hourDetail));
};
