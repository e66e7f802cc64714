import type { ComponentChildren } from 'preact';
import type { Token } from '../activity/activity-model.ts';
import { AssetName, party, Sentence } from '../activity/activity-words.ts';
import { Address, html } from '../components.ts';
import { formatUsd, isZero } from '../format.ts';
import { nameOfCall } from '../wallet/transaction-details.ts';
import type { DeliveredEvent } from './cards.ts';

type Of<Kind extends DeliveredEvent['__typename']> = Extract<DeliveredEvent, { __typename: Kind }>;

/** The wallet whose event it is; the service may omit it. */
const walletOf = (address: string | null) =>
  html`<strong>${address ? html`<${Address} value=${address} />` : 'A watched wallet'}</strong>`;

/** A token of which only some facts are known. */
const tokenWith = (known: Partial<Token>): Token => ({
  ...{ id: '', chainId: 0, address: null, isNative: false, symbol: null, name: null, decimals: null },
  ...{ logo: null, ...known },
});

const activityText = (event: Of<'Activity'>, chainId: number | null) => {
  const { subscribedAddress, assetType, token } = event;
  const isNative = assetType === null || assetType === 'NATIVE';
  const item = {
    ...event,
    chainId: event.chainId ?? chainId,
    token: token ?? (isNative ? null : tokenWith({})),
  };
  return html`<${Sentence} item=${item} wallet=${walletOf(subscribedAddress)} />`;
};

const transactionText = ({ transaction }: Of<'TransactionEvent'>) => {
  const { address, direction, success, from, to, value, chainId, decoded } = transaction;
  const isSender = direction === 'SENDER' || (direction === null && from === address);
  const name = decoded?.name ? html`, <em>${nameOfCall(decoded)}</em>,` : '';
  const side = isSender ? (to ? party('to', to) : ' that creates a contract') : party('from', from);
  const asset = html`<${AssetName} value=${value} token=${null} tokenId=${null} chainId=${chainId} />`;
  return html`${walletOf(address)} ${isSender ? 'sent' : 'received'} a transaction${name}${side}
    ${value !== null && !isZero(value) && html` with ${asset}${success === false && ', which did not move'}`}`;
};

/** What has changed, unless an activity tells it, and what the wallet has now. */
const balanceText = (event: Of<'BalanceChange'>, chainId: number | null, isTold: boolean) => {
  const { subscribedAddress, assetType, tokenId, amountDelta, amountAfter, direction, counterparty } = event;
  const token = tokenWith({
    ...{ isNative: assetType === 'NATIVE', address: event.tokenAddress, symbol: event.tokenSymbol },
    ...{ name: event.tokenName, decimals: event.tokenDecimals, logo: event.tokenLogo },
  });
  const amount = (value: string | null) =>
    html`<${AssetName} value=${value} token=${token} tokenId=${tokenId} chainId=${chainId} />`;
  const wallet = walletOf(subscribedAddress);
  if (isTold && amountAfter !== null) return html`${wallet} now has ${amount(amountAfter)}`;
  const [moved, word] = direction === 'IN' ? ['gained', 'from'] : ['lost', 'to'];
  return html`${wallet} ${moved} ${amount(amountDelta?.replace('-', '') ?? null)}${party(word, counterparty)}
    ${amountAfter !== null && html` and now has ${amount(amountAfter)}`}`;
};

type Props = {
  event: DeliveredEvent;
  chainId: number | null;
  /** Whether an activity beside it tells what moved. */
  isTold: boolean;
};

const sentenceOf = ({
  event,
  chainId,
  isTold,
}: Props): readonly [said: ComponentChildren, usd: string | null] => {
  if (event.__typename === 'TransactionEvent') return [transactionText(event), null];
  if (event.__typename === 'Activity') return [activityText(event, chainId), event.valueUsd];
  return [balanceText(event, chainId, isTold), isTold ? null : event.valueUsdDelta];
};

/** One event as a sentence about its wallet, with what it is worth. */
export const EventLine = (props: Props) => {
  const [said, dollars] = sentenceOf(props);
  const isQuiet = props.isTold && props.event.__typename === 'BalanceChange';
  return html`<li class=${isQuiet ? 'bar event quiet' : 'bar event'}>
    <span>${said}</span>
    ${dollars !== null && html`<span class="worth">${formatUsd(dollars.replace('-', ''))}</span>`}
  </li>`;
};
