import { compareDecimals, isUnlimited, sumDecimals } from 'evm-graphql-gateway/client';
import type { ApprovalRowFragment, BalanceRowFragment } from '../__generated__/operations.ts';
import { type ActivityItem, type Token, tokensIn } from '../activity/activity-model.ts';
import { isZero } from '../format.ts';
import { isThin } from './thin-pools.ts';

/** What others may move of a wallet, how much of it is there, and what ends it. */

/** An allowance that is open, from the service's list or from an event. */
export type Open = Pick<
  ApprovalRowFragment,
  'id' | 'chainId' | 'spender' | 'spenderName' | 'amount' | 'isUnlimited' | 'tokenId' | 'isForAll'
> & { readonly token: Token };

export type Balances = ReadonlyMap<string, BalanceRowFragment>;

export const keyOf = (chainId: number | null, address: string | null): string => `${chainId}:${address}`;

const least = (one: string, other: string): string => (BigInt(one) < BigInt(other) ? one : other);

/** `numerator / denominator` of a decimal, cut behind its cents. */
const shareOf = (usd: string, numerator: string, denominator: string): string => {
  const [whole = '0', fraction = ''] = usd.split('.');
  const cents = BigInt(`${whole}${fraction.padEnd(2, '0').slice(0, 2)}`);
  const share = String((cents * BigInt(numerator)) / BigInt(denominator)).padStart(3, '0');
  return `${share.slice(0, -2)}.${share.slice(-2)}`;
};

/** What can be lost now, in the smallest unit, and in dollars if there is a price to believe; null where that is not known. */
export const riskOf = ({ chainId, token, amount, isUnlimited: isAll, tokenId }: Open, balances: Balances) => {
  if (tokenId !== null || amount === null) return null;
  const held = balances.get(keyOf(chainId, token.address));
  if (held === undefined || isZero(held.amount)) return { amount: '0', usd: '0' };
  const most = isAll ? held.amount : least(amount, held.amount);
  const { valueUsd, lowLiquidity, poolSizeUsd } = held;
  const isBelieved = valueUsd !== null && !isThin({ ...held.token, lowLiquidity, poolSizeUsd });
  return { amount: most, usd: isBelieved ? shareOf(valueUsd, most, held.amount) : null };
};

/** Of several allowances for one token, only the largest counts: no coin can be taken twice. */
export const totalOf = (open: readonly Open[], balances: Balances): string => {
  const most = new Map<string, string>();
  for (const each of open) {
    const usd = riskOf(each, balances)?.usd ?? '0';
    const key = keyOf(each.chainId, each.token.address);
    if (compareDecimals(usd, most.get(key) ?? '0') > 0) most.set(key, usd);
  }
  return sumDecimals([...most.values()]);
};

export const hasNoLimit = ({ isUnlimited: isAll, isForAll }: Open): boolean => isAll || isForAll;

export type OfSpender = {
  readonly spender: string;
  readonly name: string | null;
  readonly open: readonly Open[];
  readonly usd: string;
};

/** By spender: those with an allowance without a limit first, then those who may take the most. */
export const bySpender = (open: readonly Open[], balances: Balances): readonly OfSpender[] => {
  const rank = (each: Open) => riskOf(each, balances)?.usd ?? '0';
  const order = (one: Open, other: Open) =>
    Number(hasNoLimit(other)) - Number(hasNoLimit(one)) || compareDecimals(rank(other), rank(one));
  return [...Map.groupBy(open, ({ spender }) => spender)]
    .map(([spender, own]) => {
      const name = own.find(({ spenderName }) => spenderName !== null)?.spenderName ?? null;
      return { spender, name, open: own.toSorted(order), usd: totalOf(own, balances) };
    })
    .toSorted(
      (one, other) =>
        Number(other.open.some(hasNoLimit)) - Number(one.open.some(hasNoLimit)) ||
        compareDecimals(other.usd, one.usd),
    );
};

const isOfToken = ({ chainId, token }: Open, item: ActivityItem): boolean =>
  item.chainId === chainId && tokensIn(item).some(({ address }) => address === token.address);

/** When it was given, and when the spender last moved some of it, as far as activities tell. They are the newest first. */
export const timesOf = (open: Open, items: readonly ActivityItem[]) => {
  const { spender, tokenId, chainId } = open;
  const given = items.find(
    (item) =>
      item.type === 'APPROVE' &&
      item.spender === spender &&
      isOfToken(open, item) &&
      (tokenId === null || item.tokenId === tokenId),
  );
  const used = items.find(
    (item) =>
      item.type !== 'APPROVE' &&
      item.chainId === chainId &&
      (item.to === spender || item.from === spender) &&
      (item.type === 'CALL' || isOfToken(open, item)),
  );
  return { given: given?.blockTime ?? null, used: used?.blockTime ?? null };
};

/** What approvals among a wallet's newest activities left open: the last one of each decides. What was spent since is not known. */
export const openIn = (items: readonly ActivityItem[]): readonly Open[] => {
  const last = new Map<string, ActivityItem>();
  for (const item of items) {
    const { type, chainId, token, spender, tokenId } = item;
    if (type !== 'APPROVE' || !token?.address || spender === null) continue;
    const key = [chainId, token.address, spender, tokenId].join();
    if (!last.has(key)) last.set(key, item);
  }
  return [...last].flatMap(([id, { chainId, token, spender, value, tokenId, assetType }]) => {
    if (token === null || spender === null || chainId === null) return [];
    // Of an NFT, nobody is approved by approving nobody.
    if ((value !== null && isZero(value)) || /^0x0*$/.test(spender)) return [];
    const isForAll = tokenId === null && assetType !== 'ERC20';
    const amount = tokenId === null && !isForAll ? value : null;
    const approved = { isUnlimited: amount !== null && isUnlimited(amount), isForAll, amount, tokenId };
    return [{ id, chainId, token, spender, spenderName: null, ...approved }];
  });
};

const word = (hex: string): string => hex.padStart(64, '0');
const APPROVE = '0x095ea7b3';
const SET_APPROVAL_FOR_ALL = '0xa22cb465';

/** The call by which the wallet ends it, and how it reads. It has no value. */
export const revocationOf = ({ token, spender, tokenId, isForAll }: Open) => {
  const to = token.address ?? '';
  const [who, nobody] = [word(spender.slice(2)), word('')];
  if (isForAll)
    return { to, data: `${SET_APPROVAL_FOR_ALL}${who}${nobody}`, reads: 'setApprovalForAll(spender, false)' };
  return tokenId === null
    ? { to, data: `${APPROVE}${who}${nobody}`, reads: 'approve(spender, 0)' }
    : {
        to,
        data: `${APPROVE}${nobody}${word(BigInt(tokenId).toString(16))}`,
        reads: 'approve(0x0, tokenId)',
      };
};
