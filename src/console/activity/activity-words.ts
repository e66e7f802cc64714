import { formatAmount, isUnlimited } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { Address, ExplorerLink, html } from '../components.ts';
import { inWords, shorten } from '../format.ts';
import { TokenLogo } from '../picture.ts';
import { nameOfCall } from '../wallet/transaction-details.ts';
import {
  type ActivityItem,
  amountOf,
  CREATION,
  functionOf,
  isRevocation,
  type Move,
  symbolOf,
} from './activity-model.ts';

/** An activity as a sentence about its wallet. */

/** Begins a sentence with a verb. */
type Begin = (verb: string) => ComponentChildren;

const LONGEST_SYMBOL = 24;

type Asset = Pick<Move, 'value' | 'token' | 'tokenId'> & { readonly chainId: number | null };

const symbolIn = ({ token, chainId }: Asset): string => shorten(symbolOf(token, chainId), LONGEST_SYMBOL);

/** What moved, in words: `573 USDC`, `Cool Cats #12`. */
export const assetText = (asset: Asset): string => {
  const { value, token, tokenId, chainId } = asset;
  if (tokenId !== null) {
    const count = value !== null && value !== '1' ? `${formatAmount(value, 0)} × ` : '';
    return `${count}${symbolIn(asset)} #${shorten(tokenId, 16)}`;
  }
  return value === null
    ? `some ${symbolIn(asset)}`
    : `${amountOf(value, token, chainId).shown} ${symbolIn(asset)}`;
};

/** What moved, with the token's logo. Its title has all digits. */
export const AssetName = (asset: Asset) => {
  const { value, token, tokenId, chainId } = asset;
  const exact = value === null || tokenId !== null ? null : amountOf(value, token, chainId).exact;
  const drawn = { logo: token?.logo ?? null, symbol: symbolOf(token, chainId) };
  return html`<span class="asset" title=${[exact, token?.name, token?.address].filter(Boolean).join(' · ')}><${TokenLogo} token=${drawn} size=${18} /><strong>${assetText(asset)}</strong>${token?.address && html`<${ExplorerLink} path=${`token/${token.address}`} />`}</span>`;
};

/** The other side, behind a word; nothing where none is named. */
export const party = (word: string, address: string | null): ComponentChildren =>
  address !== null && html` ${word} <${Address} value=${address} />`;

/** Minted from, or burned to. */
export const isNobody = (address: string | null): boolean => address === null || /^0x0*$/.test(address);

/** What an approval allows; null where it ends one. */
export const allowanceOf = (item: ActivityItem): ComponentChildren => {
  const { value, token, tokenId, chainId, assetType } = item;
  if (isRevocation(item)) return null;
  if (tokenId !== null) return html`<${AssetName} ...${item} />`;
  if (assetType === 'ERC721' || assetType === 'ERC1155')
    return html`<strong>any ${symbolIn({ token, chainId, tokenId, value })}</strong>`;
  return value !== null && isUnlimited(value)
    ? html`<strong>any amount of ${symbolIn({ token, chainId, tokenId, value })}</strong>`
    : html`up to <${AssetName} ...${item} />`;
};

const approval = (item: ActivityItem, begin: Begin): ComponentChildren => {
  const who = item.spender === null ? 'someone' : html`<${Address} value=${item.spender} />`;
  const allowance = allowanceOf(item);
  return allowance === null
    ? html`${begin('revoked')} the allowance${item.tokenId === null && html` of ${who}`} for <strong>${assetText({ ...item, value: null }).replace(/^some /, '')}</strong>`
    : html`${begin('allowed')} ${who} to spend ${allowance}`;
};

const call = (item: ActivityItem, begin: Begin, wallet: ComponentChildren): ComponentChildren => {
  const { from, to, contractName } = item;
  if (item.typeName === CREATION) return html`${begin('created')} a contract${party('at', to)}`;
  const decoded = functionOf(item);
  const called = decoded?.name ? html`<strong>${nameOfCall(decoded)}</strong>` : 'a function';
  const contract = contractName ? html` of <span>${shorten(contractName, 40)}</span>` : '';
  return from === null
    ? html`${begin('called')} ${called}${contract}${party('at', to)}`
    : html`<${Address} value=${from} /> called ${called} of ${wallet}`;
};

type SentenceProps = {
  item: ActivityItem;
  /** Whose activity it is, where the sentence is to say it. */
  wallet?: ComponentChildren;
};

/** `Sent 573 USDC to 0x91d7…`, or with its wallet `metronome sent 573 USDC to 0x91d7…`. */
export const Sentence = ({ item, wallet }: SentenceProps) => {
  const { type, typeName, from, to, swap, chainId, contractName } = item;
  const begin: Begin = (verb) =>
    wallet === undefined ? `${verb.charAt(0).toUpperCase()}${verb.slice(1)}` : html`${wallet} ${verb}`;
  const asset = html`<${AssetName} ...${item} />`;
  const side = (part: NonNullable<typeof swap>['from']) =>
    part
      ? html`<${AssetName} value=${part.value} token=${part.token} tokenId=${null} chainId=${chainId} />`
      : 'something';
  switch (type) {
    case 'SEND':
      return html`${begin('sent')} ${asset}${party('to', to)}`;
    case 'RECEIVE':
      return html`${begin('received')} ${asset}${party('from', from)}`;
    case 'MINT':
      return html`${begin('minted')} ${asset}${!isNobody(from) && party('from', from)}`;
    case 'BURN':
      return html`${begin('burned')} ${asset}${!isNobody(to) && party('at', to)}`;
    case 'SWAP':
      return html`${begin('swapped')} ${side(swap?.from ?? null)} for ${side(swap?.to ?? null)}${contractName ? ` on ${shorten(contractName, 40)}` : party('on', to)}`;
    case 'APPROVE':
      return approval(item, begin);
    case 'CALL':
      return call(item, begin, wallet ?? 'this wallet');
    default:
      return html`${wallet && html`${wallet}: `}${inWords(shorten(typeName ?? 'an unknown event', 40))} ${item.token && asset}${party('from', from)}${party('to', to)}`;
  }
};
