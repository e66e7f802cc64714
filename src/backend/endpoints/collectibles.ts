import { address, chainChoice, flag, limit, Refused } from '../http/query.ts';
import type { Holding, NftMetadata } from '../source.ts';
import { beginnings, isoTime, type Lookup, paged, scopeOf, unreadable, warnings } from './lookup.ts';
import { type Classification, classifyAll } from './spam.ts';

/** What is missing of a chain without its oldest blocks. */
const UNSEEN = 'collectibles that came before are missing';

const DEFAULT_LIMIT = 250;
const MAX_LIMIT = 2_500;

/** A wallet's NFTs, in the order of their source. */
export const collectibles: Lookup = {
  path: '/v1/evm/collectibles/{address}',
  errors: 'error',
  computeUnits: (chains) => chains,
  async answer(asked) {
    const { data, now, path, query } = asked;
    const requestedAt = now();
    const wallet = address(path.address, 'Invalid address: expected 0x and 40 hexadecimal digits');
    const { chains, unsupported } = chainChoice(query, data.chains, 'collectibles');
    const filterSpam = flag(query, 'filter_spam', true);
    const explain = flag(query, 'show_spam_scores', false);
    const count = limit(query, DEFAULT_LIMIT, MAX_LIMIT);
    if (unsupported.length > 0) throw new Refused(404, 'Chain not supported');

    const chainIds = new Set(scopeOf(chains));
    const { page, next, failed } = await paged(asked, ['collectibles', wallet, filterSpam, ...chainIds], {
      limit: count,
      ask: (wanted) => data.holdings(wallet, chainIds, wanted),
      async choose(holdings) {
        const classified = await classifyAll(data, holdings, now());
        return classified.filter(({ classification }) => !(filterSpam && classification.isSpam));
      },
      placeOf: ({ holding }) => holding.place,
    });
    const entries = page.map(async ({ holding, classification }) =>
      collectibleItem(holding, await data.metadata(holding), classification, explain),
    );
    const body = {
      address: wallet,
      entries: await Promise.all(entries),
      request_time: isoTime(requestedAt),
      response_time: isoTime(now()),
      ...next,
      ...warnings('Collectibles', [], asked, [
        ...beginnings(asked, chains, UNSEEN),
        ...unreadable('The collectibles', chains, page, failed),
      ]),
    };
    return { body, chains: chains.length };
  },
};

const STANDARDS = { erc721: 'ERC721', erc1155: 'ERC1155' };

/** A holding in the lookup's format. Optional fields are omitted when their value is unknown. */
const collectibleItem = (
  { chain, contract, standard, symbol, tokenId, balance, acquiredAt, soldFor }: Holding,
  metadata: NftMetadata | null,
  { isSpam, score, explanations }: Classification,
  explain: boolean,
) => ({
  contract_address: contract,
  token_standard: STANDARDS[standard],
  token_id: tokenId.toString(),
  chain: chain.name,
  chain_id: chain.id,
  ...(symbol !== null && { symbol }),
  ...(metadata !== null && described(metadata)),
  ...(soldFor !== null && { last_sale_price: inWholeUnits(soldFor, chain.native.decimals) }),
  ...(isSpam !== null && { is_spam: isSpam }),
  ...(explain && score !== null && { spam_score: score, explanations }),
  balance: balance.toString(),
  ...(acquiredAt !== null && { last_acquired: isoTime(acquiredAt) }),
});

const described = ({ name, description, imageUrl, uri, attributes }: NftMetadata) => ({
  ...(name !== null && { name }),
  ...(description !== null && { description }),
  ...(imageUrl !== null && { image_url: imageUrl }),
  metadata: uri === null && attributes.length === 0 ? {} : { ...(uri !== null && { uri }), attributes },
});

/** Formats an amount of a native asset in whole units. */
const inWholeUnits = (value: bigint, decimals: number): string => {
  const digits = value.toString().padStart(decimals + 1, '0');
  const whole = digits.length - decimals;
  return `${digits.slice(0, whole)}.${digits.slice(whole)}`.replace(/\.?0+$/, '');
};
