import { address, chainChoice, limit, single } from '../http/query.ts';
import type { Allowance, Allowances } from '../source.ts';
import { knownAsset } from './assets.ts';
import { beginnings, isoTime, type Lookup, type Service, scopeOf, unreadable, warnings } from './lookup.ts';

const MAX_LIMIT = 100;
/** What a list of a chain without its oldest blocks lacks. */
const OLDER = 'approvals of before are missing';

/**
 * Who may move what of a wallet now, by chain, token and spender. A page may be short, or empty, and have a next one. Only this
 * project's own service has this lookup.
 */
export const approvals: Lookup = {
  path: '/v1/evm/approvals/{address}',
  errors: 'message',
  computeUnits: (chains) => chains,
  async answer(asked) {
    const { data, cursors, now, path, query } = asked;
    const requestedAt = now();
    const wallet = address(path.address, 'Invalid address: expected 0x and 40 hexadecimal digits');
    const { chains, unsupported } = chainChoice(query, data.chains, 'approvals');
    const count = limit(query, MAX_LIMIT, MAX_LIMIT);
    const scope = ['approvals', wallet, ...scopeOf(chains)];
    const after = cursors.read(scope, single(query, 'offset'));
    const chainIds = new Set(scopeOf(chains));
    const { items, next, unread, failed } = await data.approvals(wallet, chainIds, { after, limit: count });
    const body = {
      wallet_address: wallet,
      approvals: items.map((each) => approvalItem(asked, each)),
      ...(next !== null && { next_offset: cursors.issue(scope, next) }),
      ...failures(unread),
      ...warnings('Approvals', unsupported, asked, [
        ...beginnings(asked, chains, OLDER),
        ...unreadable('The approvals', chains, items, failed),
      ]),
      request_time: isoTime(requestedAt),
      response_time: isoTime(now()),
    };
    return { body, chains: chains.length };
  },
};

/** ERC-20s take the greatest numbers of 256 and of 96 bits for no limit, and may count down from the former. */
const isUnlimited = (amount: bigint): boolean => amount >= 2n ** 255n || amount === 2n ** 96n - 1n;

const approvalItem = ({ data, now }: Service, allowance: Allowance) => {
  const { chain, token, standard, spender, amount, tokenId } = allowance;
  const asset = knownAsset(data, chain, token, now());
  const isForAll = amount === null && tokenId === null;
  return {
    chain: chain.name,
    chain_id: chain.id,
    token_address: token,
    spender,
    spender_name: data.contractName(chain.id, spender) ?? undefined,
    /** Tells the approvals of one spender for one contract from each other. */
    scope: tokenId?.toString() ?? (isForAll ? 'all' : 'amount'),
    token_standard: standard?.toUpperCase(),
    amount: amount?.toString(),
    is_unlimited: amount !== null && isUnlimited(amount),
    token_id: tokenId?.toString(),
    is_for_all: isForAll,
    token_metadata:
      asset === null
        ? undefined
        : {
            symbol: asset.symbol,
            name: asset.name,
            decimals: asset.decimals,
            logo: asset.logo ?? undefined,
            url: asset.site ?? undefined,
            price_usd: asset.priceUsd ?? undefined,
            pool_size: asset.poolSizeUsd ?? undefined,
          },
  };
};

/** The number of contracts that an answer names. */
const MAX_NAMED = 20;

const failures = (unread: Allowances['unread']): object =>
  unread.length === 0
    ? {}
    : {
        errors: {
          error_message: `${unread.length} approvals could not be read`,
          token_errors: unread.slice(0, MAX_NAMED).map(({ chain, token }) => ({
            chain_id: chain.id,
            address: token,
            description: 'The node could not ask the contract what is approved',
          })),
        },
      };
