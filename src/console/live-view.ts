import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type DeliveryFilter, Webhooks, type WebhookType } from './__generated__/operations.ts';
import { send } from './api/client.ts';
import {
  type Delivery,
  type FeedItem,
  type FeedState,
  type LiveFeed,
  openLiveFeed,
} from './api/live-feed.ts';
import { type Bucket, TimeBars } from './charts.ts';
import { Address, Empty, Hash, html, ProblemNotice, Skeleton } from './components.ts';
import {
  formatCount,
  formatTime,
  formatUnits,
  formatUsd,
  inWords,
  NATIVE_DECIMALS,
  nativeSymbol,
  shorten,
} from './format.ts';
import { hrefOf, isAddress, route, setParams, useParam } from './route.ts';
import { settings } from './settings.ts';
import { useStore } from './state.ts';

const MINUTE_MS = 60_000;

const bucketsOf = (perMinute: readonly number[]): readonly Bucket[] => {
  const present = Math.floor(Date.now() / MINUTE_MS) + 1;
  return perMinute.map((value, index) => {
    const end = (present - (perMinute.length - 1 - index)) * MINUTE_MS;
    return { start: end - MINUTE_MS, end, values: [value] };
  });
};

/** The events of the caller's webhooks as they arrive, newest first. */
export const LiveView = () => {
  const { params } = useStore(route);
  const { feed, retry } = useLiveFeed(filterOf(params));
  const items = feed?.items ?? [];
  const isLoading = items.length === 0 && (feed === null || feed.connection === 'connecting');
  return html`<section class="stack" aria-labelledby="live-title">
    <div class="bar">
      <h2 id="live-title">Live events</h2>
      ${feed && html`<${ConnectionState} connection=${feed.connection} />`}
      <span class="push quiet">${formatCount(feed?.received ?? 0)} arrived while this view is open</span>
    </div>
    <${LiveFilter} params=${params} />
    <div class="panel">
      <${TimeBars} label="Events a minute, of the last half hour here" buckets=${bucketsOf(feed?.perMinute ?? [])} series=${[{ name: 'events', tone: 'blue' }]} unit="events" />
    </div>
    ${feed?.problem && html`<${ProblemNotice} problem=${feed.problem} onRetry=${feed.connection === 'ended' ? retry : undefined} />`}
    ${(items.length > 0 || !feed?.problem) && html`<div class="panel">${isLoading ? html`<${Skeleton} rows=${6} />` : html`<${FeedList} items=${items} />`}</div>`}
  </section>`;
};

/** A delivery may have ten thousand events. */
const SHOWN_EVENTS = 5;

const DeliveryRow = ({ delivery, isNew }: { delivery: Delivery; isNew: boolean }) => {
  const { type, receivedAt, events } = delivery;
  const others = events.length - SHOWN_EVENTS;
  return html`<li class=${isNew ? 'delivery is-new' : 'delivery'} data-delivery=${delivery.id}>
    <div class="bar">
      <span class="tag">${type ? inWords(type) : 'unknown type'}</span>
      <time datetime=${receivedAt} class="quiet">${formatTime(receivedAt)}</time>
    </div>
    <ul>
      ${events.slice(0, SHOWN_EVENTS).map((event, index) => html`<li key=${index}><${EventText} event=${event} chainId=${delivery.chainId} /></li>`)}
      ${others > 0 && html`<li class="quiet">and ${others} more events</li>`}
      ${events.length === 0 && html`<li class="quiet">No event that this gateway can read: its payload has the body.</li>`}
    </ul>
  </li>`;
};

/** The newest delivery first, with a line where the log could not be continued. */
const FeedList = ({ items }: { items: readonly FeedItem[] }) =>
  items.length === 0
    ? html`<${Empty} title="No event has arrived yet">Events come from webhooks that point here. <a href=${hrefOf('wallet')}>Watch a wallet</a>, or <a href=${hrefOf('webhooks')}>point a webhook here</a>.<//>`
    : html`<ol class="rows feed">
        ${items.map((item) =>
          item.kind === 'gap'
            ? html`<li key=${`gap ${item.cursor}`} class="gap" role="note">${item.message}</li>`
            : html`<${DeliveryRow} key=${item.cursor} delivery=${item.delivery} isNew=${item.isNew} />`,
        )}
      </ol>`;

const TEXTS: Readonly<Record<FeedState['connection'], readonly [text: string, kind: string]>> = {
  connecting: ['connecting…', ''],
  live: ['live', 'is-good'],
  waiting: ['the connection broke: it resumes where it was', 'is-warn'],
  ended: ['ended', 'is-bad'],
};

/** Whether events arrive at this moment. */
const ConnectionState = ({ connection }: Pick<FeedState, 'connection'>) => {
  const [text, kind] = TEXTS[connection];
  return html`<span class=${`tag ${kind}`} role="status" data-connection=${connection}>${text}</span>`;
};

type Followed = {
  /** Null until the feed is opened. */
  readonly feed: FeedState | null;
  /** Starts again after the feed has ended. */
  readonly retry: () => void;
};

/** Follows the deliveries that match while the component is mounted. Another filter starts anew. */
const useLiveFeed = (filter: DeliveryFilter): Followed => {
  const key = JSON.stringify(filter);
  const wanted = useMemo<DeliveryFilter>(() => JSON.parse(key), [key]);
  const [state, setState] = useState<FeedState | null>(null);
  const opened = useRef<LiveFeed | null>(null);
  useEffect(() => {
    const feed = openLiveFeed(wanted);
    opened.current = feed;
    const update = () => setState(feed.state.get());
    update();
    const unsubscribe = feed.state.subscribe(update);
    return () => {
      unsubscribe();
      feed.close();
    };
  }, [wanted]);
  return { feed: state, retry: () => opened.current?.retry() };
};

const TYPES: readonly WebhookType[] = ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'];

const typesIn = (params: URLSearchParams): WebhookType[] => {
  const named = params.get('types')?.split(',') ?? [];
  return TYPES.filter((type) => named.includes(type));
};

/** The filter in the address bar. Whatever it does not name is not filtered. */
const filterOf = (params: URLSearchParams): DeliveryFilter => {
  const [address, webhook] = [params.get('address'), params.get('webhook')];
  const types = typesIn(params);
  return {
    ...(address && isAddress(address) ? { address } : {}),
    ...(webhook ? { webhookIds: [webhook] } : {}),
    ...(types.length > 0 ? { types } : {}),
  };
};

type Choice = { readonly webhookId: string; readonly name: string | null };

/** The webhooks to choose from; none for a caller that may not list them. */
const useWebhooks = (): readonly Choice[] => {
  const [webhooks, setWebhooks] = useState<readonly Choice[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    send(Webhooks, { first: 100 }, abort.signal)
      .then(({ data }) => setWebhooks(data?.webhooks?.edges.flatMap((edge) => edge?.node ?? []) ?? []))
      .catch(() => {});
    return () => abort.abort();
  }, []);
  return webhooks;
};

/** Chooses which events are shown: of one wallet, of some types, of one webhook. */
const LiveFilter = ({ params }: { params: URLSearchParams }) => {
  const webhooks = useWebhooks();
  const [error, setError] = useState('');
  const [chosen, setChosen] = useParam('webhook');
  const types = typesIn(params);
  const onAddress = (event: Event) => {
    const text = (event.currentTarget as HTMLInputElement).value.trim();
    const address =
      settings.wallets.find(({ name }) => name === text.toLowerCase())?.address ?? text.toLowerCase();
    const isValid = address === '' || isAddress(address);
    setError(
      isValid ? '' : `Expected an address, 0x and 40 hex digits, got ${JSON.stringify(shorten(text, 50))}.`,
    );
    if (isValid) setParams({ address }, true);
  };
  return html`<form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
    <label class="field">Wallet
      <input name="address" list="live-wallets" spellcheck=${false} autocomplete="off" placeholder="all wallets: 0x… for one" value=${params.get('address') ?? ''} onChange=${onAddress} aria-invalid=${error !== ''} aria-describedby="live-address-error" />
      <datalist id="live-wallets">${settings.wallets.map(({ name, address }) => html`<option key=${address} value=${name} />`)}</datalist>
    </label>
    <label class="field">Webhook
      <select name="webhook" value=${chosen} onChange=${(event: Event) => setChosen((event.currentTarget as HTMLSelectElement).value, true)}>
        <option value="">all webhooks</option>
        ${chosen !== '' && !webhooks.some(({ webhookId }) => webhookId === chosen) && html`<option value=${chosen}>${chosen}</option>`}
        ${webhooks.map(({ webhookId, name }) => html`<option key=${webhookId} value=${webhookId}>${shorten(name ?? webhookId, 50)}</option>`)}
      </select>
    </label>
    <fieldset>
      <legend>Types</legend>
      ${TYPES.map(
        (type) =>
          html`<label key=${type} class="choice"><input type="checkbox" checked=${types.includes(type)} onChange=${() => setParams({ types: (types.includes(type) ? types.filter((other) => other !== type) : [...types, type]).join(',') }, true)} /> ${inWords(type)}</label>`,
      )}
    </fieldset>
    <p id="live-address-error" class="bad" role="alert">${error}</p>
  </form>`;
};

type DeliveredEvent = Delivery['events'][number];
type Of<Kind extends DeliveredEvent['__typename']> = Extract<DeliveredEvent, { __typename: Kind }>;
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
const EventText = ({ event, chainId }: { event: DeliveredEvent; chainId: number | null }) => {
  if (event.__typename === 'TransactionEvent') return html`<${TransactionText} event=${event} />`;
  if (event.__typename === 'Activity') return html`<${ActivityText} event=${event} chainId=${chainId} />`;
  return html`<${BalanceText} event=${event} />`;
};
