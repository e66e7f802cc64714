import { formatAmount, isUnlimited } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { isRevocation } from '../activity/activity-model.ts';
import { party } from '../activity/activity-words.ts';
import { Address, html } from '../components.ts';
import { amountIn, formatUsd, inWords, nativeDecimals, nativeSymbol, shorten, shortHex } from '../format.ts';
import { nameOfCall } from '../wallet/transaction-details.ts';
import type { DeliveredEvent } from './cards.ts';

type Of<Kind extends DeliveredEvent['__typename']> = Extract<DeliveredEvent, { __typename: Kind }>;
type Activity = Of<'Activity'>;
type Token = Activity['token'];

/** The wallet whose event it is; the service may omit it. */
const Wallet = ({ address }: { address: string | null }) =>
  address ? html`<strong><${Address} value=${address} /></strong>` : html`<strong>A watched wallet</strong>`;

const Amount = ({ value, decimals, symbol }: { value: string | null; decimals: number; symbol: string }) =>
  html`<span class="amount" title=${value !== null && amountIn(value, decimals).exact}>${value !== null && `${amountIn(value, decimals).shown} `}${shorten(symbol, 40)}</span>`;

/** A contract that has no name is called by its address. */
const symbolOf = (token: Pick<NonNullable<Token>, 'symbol' | 'name' | 'address'> | null): string =>
  token?.symbol ?? token?.name ?? (token?.address ? shortHex(token.address) : 'of a token');

const Asset = ({ event, chainId }: { event: Activity; chainId: number | null }) => {
  const { token, tokenId, value, assetType } = event;
  if (tokenId !== null) {
    const count = value !== null && value !== '1' ? `${formatAmount(value, 0)} × ` : '';
    return html`<span class="amount">${count}${shorten(symbolOf(token), 40)} #${shorten(tokenId, 16)}</span>`;
  }
  if (assetType === 'NATIVE')
    return html`<${Amount} value=${value} decimals=${nativeDecimals(chainId)} symbol=${nativeSymbol(chainId)} />`;
  return html`<${Amount} value=${value} decimals=${token?.decimals ?? 0} symbol=${symbolOf(token)} />`;
};

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
      if (isRevocation(event))
        return html`revoked the allowance${event.tokenId === null && party('of', event.spender)} for <span class="amount">${symbolOf(event.token)}${event.tokenId !== null && ` #${shorten(event.tokenId, 16)}`}</span>`;
      return html`allowed${party('', event.spender)} to spend ${event.value !== null && isUnlimited(event.value) ? html`any amount of <span class="amount">${shorten(symbolOf(event.token), 20)}</span>` : asset}`;
    case 'CALL':
      return html`called${party('', event.to)}`;
    default:
      return html`${inWords(shorten(event.typeName ?? 'an unknown event', 40))} ${asset}`;
  }
};

const TransactionText = ({ event }: { event: Of<'TransactionEvent'> }) => {
  const { address, direction, success, from, to, value, chainId, decoded } = event.transaction;
  const isSender = direction === 'SENDER' || (direction === null && from === address);
  return html`<${Wallet} address=${address} /> ${isSender ? 'sent' : 'received'} a transaction
    ${decoded?.name && html` <em>${nameOfCall(decoded)}</em>`}
    ${isSender ? (to ? party('to', to) : ' that creates a contract') : party('from', from)}
    ${value && value !== '0' && html` with <${Amount} value=${value} decimals=${nativeDecimals(chainId)} symbol=${nativeSymbol(chainId)} />${success === false && ', which did not move'}`}`;
};

type BalanceProps = { event: Of<'BalanceChange'>; isTold: boolean };

/** What has changed, unless an activity tells it, and what the wallet has now. */
const BalanceText = ({ event, isTold }: BalanceProps) => {
  const { subscribedAddress, tokenAddress, tokenSymbol, tokenName, tokenId, amountDelta, amountAfter } =
    event;
  const decimals = event.tokenDecimals ?? 0;
  const name = symbolOf({ symbol: tokenSymbol, name: tokenName, address: tokenAddress });
  const symbol = tokenId === null ? name : `${shorten(name, 20)} #${shorten(tokenId, 16)}`;
  const isIn = event.balanceDirection === 'IN';
  const amount = (value: string | null) =>
    html`<${Amount} value=${value} decimals=${decimals} symbol=${symbol} />`;
  if (isTold && amountAfter !== null)
    return html`<${Wallet} address=${subscribedAddress} /> has ${amount(amountAfter)} now`;
  return html`<${Wallet} address=${subscribedAddress} /> ${isIn ? 'gained ' : 'lost '}
    ${amount(amountDelta?.replace('-', '') ?? null)}${party(isIn ? 'from' : 'to', event.counterparty)}
    ${amountAfter !== null && html` and has ${amount(amountAfter)}`}`;
};

const dollarsOf = (event: DeliveredEvent): string | null => {
  if (event.__typename === 'TransactionEvent') return null;
  return event.__typename === 'Activity' ? event.valueUsd : event.valueUsdDelta;
};

type Props = {
  event: DeliveredEvent;
  chainId: number | null;
  /** Whether an activity beside it tells what moved. */
  isTold: boolean;
};

const sentenceOf = ({ event, chainId, isTold }: Props): ComponentChildren => {
  if (event.__typename === 'TransactionEvent') return html`<${TransactionText} event=${event} />`;
  if (event.__typename === 'BalanceChange') return html`<${BalanceText} event=${event} isTold=${isTold} />`;
  return html`<${Wallet} address=${event.subscribedAddress} /> ${activityText(event, event.chainId ?? chainId)}`;
};

/** One event as a sentence about its wallet, with what it is worth. */
export const EventLine = (props: Props) => {
  const dollars = dollarsOf(props.event);
  const isQuiet = props.isTold && props.event.__typename === 'BalanceChange';
  return html`<li class=${isQuiet ? 'bar event quiet' : 'bar event'}>
    <span>${sentenceOf(props)}</span>
    ${dollars !== null && !isQuiet && html`<span class="worth">${formatUsd(dollars.replace('-', ''))}</span>`}
  </li>`;
};
