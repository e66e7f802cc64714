import type { ComponentChildren } from 'preact';
import type { Delivery } from '../api/live-feed.ts';
import { Address, Hash } from '../components.ts';
import { formatUnits, formatUsd, inWords, NATIVE_DECIMALS, nativeSymbol, shorten } from '../format.ts';
import { html } from '../html.ts';

type Event = Delivery['events'][number];
type Of<Kind extends Event['__typename']> = Extract<Event, { __typename: Kind }>;
type Activity = Of<'Activity'>;
type Token = Activity['token'];

/** The wallet that an event is of; the service may omit it. */
const Wallet = ({ address }: { address: string | null }) =>
  address
    ? html`<strong><${Address} value=${address} /></strong>`
    : html`<strong>A subscribed wallet</strong>`;

const Amount = ({ value, decimals, symbol }: { value: string | null; decimals: number; symbol: string }) =>
  html`<span class="amount">${value === null ? '' : formatUnits(value, decimals)} ${shorten(symbol, 20)}</span>`;

const symbolOf = (token: Token): string => token?.symbol ?? token?.name ?? 'of a token';

const Asset = ({ event, chainId }: { event: Activity; chainId: number | null }) => {
  const { token, tokenId, value, assetType } = event;
  if (tokenId !== null)
    return html`<span class="amount">${shorten(symbolOf(token), 40)} #${shorten(tokenId, 16)}</span>`;
  if (assetType === 'NATIVE')
    return html`<${Amount} value=${value} decimals=${NATIVE_DECIMALS} symbol=${nativeSymbol(chainId)} />`;
  return html`<${Amount} value=${value} decimals=${token?.decimals ?? 0} symbol=${symbolOf(token)} />`;
};

const party = (word: string, address: string | null): ComponentChildren =>
  address && html` ${word} <${Address} value=${address} />`;

const SwapText = ({ swap }: { swap: Activity['swap'] }) => {
  const side = (part: NonNullable<Activity['swap']>['from']) =>
    html`<${Amount} value=${part?.value ?? null} decimals=${part?.token?.decimals ?? 0} symbol=${symbolOf(part?.token ?? null)} />`;
  return html`swapped ${side(swap?.from ?? null)} for ${side(swap?.to ?? null)}`;
};

const activityText = (event: Activity, chainId: number | null): ComponentChildren => {
  const asset = html`<${Asset} event=${event} chainId=${chainId} />`;
  switch (event.type) {
    case 'SEND':
      return html`sent ${asset}${party('to', event.to)}`;
    case 'RECEIVE':
      return html`received ${asset}${party('from', event.from)}`;
    case 'MINT':
      return html`minted ${asset}`;
    case 'BURN':
      return html`burned ${asset}`;
    case 'SWAP':
      return html`<${SwapText} swap=${event.swap} />`;
    case 'APPROVE':
      return html`allowed${party('', event.spender)} to spend ${asset}`;
    case 'CALL':
      return html`called${party('', event.to)}`;
    default:
      return html`${inWords(shorten(event.typeName ?? 'an unknown event', 40))} ${asset}`;
  }
};

const ActivityText = ({ event, chainId }: { event: Activity; chainId: number | null }) =>
  html`<${Wallet} address=${event.subscribedAddress} /> ${activityText(event, event.chainId ?? chainId)}
    ${event.valueUsd !== null && html` <span class="quiet">(${formatUsd(event.valueUsd)})</span>`}
    ${event.transactionHash && html` <${Hash} value=${event.transactionHash} />`}`;

const TransactionText = ({ event }: { event: Of<'TransactionEvent'> }) => {
  const { address, direction, from, to, value, chainId, decoded, hash, success } = event.transaction;
  const isSender = direction === 'SENDER' || (direction === null && from === address);
  return html`<${Wallet} address=${address} /> ${isSender ? 'sent' : 'received'} a transaction
    ${decoded?.name && html` <em>${inWords(shorten(decoded.name, 60))}</em>`}
    ${isSender ? (to ? party('to', to) : ' that creates a contract') : party('from', from)}
    ${value && value !== '0' && html` with <${Amount} value=${value} decimals=${NATIVE_DECIMALS} symbol=${nativeSymbol(chainId)} />`}
    ${success === false && html` <span class="tag is-bad">failed</span>`} <${Hash} value=${hash} />`;
};

const BalanceText = ({ event }: { event: Of<'BalanceChange'> }) => {
  const { subscribedAddress, tokenSymbol, tokenName, tokenDecimals, amountDelta, amountAfter } = event;
  const symbol = tokenSymbol ?? tokenName ?? 'of a token';
  const decimals = tokenDecimals ?? 0;
  const isIn = event.balanceDirection === 'IN';
  return html`<${Wallet} address=${subscribedAddress} /> ${isIn ? 'gained ' : 'lost '}
    <${Amount} value=${amountDelta?.replace('-', '') ?? null} decimals=${decimals} symbol=${symbol} />${party(isIn ? 'from' : 'to', event.counterparty)}
    ${amountAfter !== null && html` and has <${Amount} value=${amountAfter} decimals=${decimals} symbol=${symbol} />`}
    ${event.balanceHash && html` <${Hash} value=${event.balanceHash} />`}`;
};

/** One event as a sentence about its wallet. */
export const EventText = ({ event, chainId }: { event: Event; chainId: number | null }) => {
  if (event.__typename === 'TransactionEvent') return html`<${TransactionText} event=${event} />`;
  if (event.__typename === 'Activity') return html`<${ActivityText} event=${event} chainId=${chainId} />`;
  return html`<${BalanceText} event=${event} />`;
};
