import { useEffect, useState } from 'preact/hooks';
import {
  type MovedTokenFragment,
  TokenNames,
  type TransactionByHashQuery,
} from '../__generated__/operations.ts';
import { Finding, useTransaction } from '../activity/activity-details.ts';
import { Flow } from '../activity/activity-flow.ts';
import { ItemLine } from '../activity/activity-row.ts';
import { knownHappening, knownToken } from '../activity/known.ts';
import { send } from '../api/client.ts';
import { OnChain, useChain, useChainNames, useChains } from '../chains.ts';
import { Address, CopyButton, Empty, ExplorerLink, html, Skeleton } from '../components.ts';
import { counted, formatCount, shorten, shortHex } from '../format.ts';
import { hrefOf, isAddress, isHash, route, useParam } from '../route.ts';
import { useStore } from '../state.ts';
import { activitiesOf, contractsIn, isMoving, isNamedIn } from './moved.ts';
import { RawJson } from './transaction-details.ts';
import { OtherChains } from './tx-chains.ts';

const PLACE = /^(\d{1,15})\/(0x[\da-f]{64})$/i;

/** The transaction in the address bar: `#/tx/1/0x…?wallet=0x…`, or `#/tx/0x…` while its chain is not known. */
export const TransactionView = () => {
  const [text = ''] = useStore(route).path;
  const chains = useChains();
  if (isHash(text)) return html`<${Chainless} key=${text.toLowerCase()} hash=${text.toLowerCase()} />`;
  const [, chain = '', hash = ''] = PLACE.exec(text) ?? [];
  if (hash === '')
    return html`<${Empty} title="This link names no transaction">Expected the id of a chain and a hash, 1/0x… with 64 hex digits, got ${text === '' ? 'nothing' : `“${shorten(text, 90)}”`}.<//>`;
  const place = { chainId: Number(chain), hash: hash.toLowerCase() };
  if (chains.length === 0) return html`<${Skeleton} rows=${4} />`;
  if (!chains.some(({ chainId }) => chainId === place.chainId)) return html`<${NotServed} ...${place} />`;
  return html`<${OnChain} chainId=${place.chainId}><${Transaction} key=${text.toLowerCase()} ...${place} /><//>`;
};

const useTitle = (hash: string): string => {
  const title = `Transaction ${shortHex(hash)}`;
  useEffect(() => {
    document.title = `${title} · EVM gateway`;
  }, [title]);
  return title;
};

const Head = ({ hash, chain }: { hash: string; chain: string | null }) => html`
  <div class="bar"><h2 id="tx-title">${useTitle(hash)}</h2>${chain !== null && html`<span class="tag">${chain}</span>`}<span class="push"><${CopyButton} text=${location.href} label="link to this page" /></span></div>
  <p class="quiet"><code>${hash}</code><${CopyButton} text=${hash} label="transaction hash" /><${ExplorerLink} path=${`tx/${hash}`} /></p>`;

type Place = { chainId: number; hash: string };

const NotServed = ({ chainId, hash }: Place) =>
  html`<section class="panel stack details" aria-labelledby="tx-title">
    <${Head} hash=${hash} chain=${`chain ${chainId}`} />
    <${Empty} title=${`This gateway does not serve chain ${chainId}`}>It can not say whether the transaction is there.<//>
    <${OtherChains} hash=${hash} but=${chainId} />
  </section>`;

const Chainless = ({ hash }: { hash: string }) =>
  html`<section class="panel stack details" aria-labelledby="tx-title">
    <${Head} hash=${hash} chain=${null} />
    <p>A hash does not say which chain it is of.</p>
    <${OtherChains} hash=${hash} but=${null} />
  </section>`;

/** Two compute units for each token that the service has to be asked about. */
const NAME_CU = 2;
const MOST_NAMED = 20;

const NO_NAMES: ReadonlyMap<string, MovedTokenFragment> = new Map();
const NO_TOKENS: ReadonlySet<string> = new Set();

const Transaction = ({ chainId, hash }: Place) => {
  const nameOf = useChainNames();
  const { findsByHash: isFound } = useChain(chainId);
  const [given, setGiven] = useParam('wallet');
  const wallet = isAddress(given) ? given.toLowerCase() : null;
  const reading = useTransaction(wallet ?? '', { chainId, hash, time: '' }, isFound);
  const { search, start } = reading;
  const [named, setNamed] = useState(NO_NAMES);
  useEffect(() => {
    if (isFound) start();
  }, [isFound]);
  const found = search.state === 'found' ? search.transaction : null;
  const side = wallet ?? found?.from ?? '';
  const known = knownHappening(side, chainId, hash);
  const tokenAt = (address: string) => named.get(address) ?? knownToken(chainId, address);
  const items = known?.items ?? (found ? activitiesOf(found, side, tokenAt) : []);
  const contracts = found ? contractsIn(found) : [];
  const name = async (addresses: readonly string[]) => {
    const tokens = addresses.map((address) => ({ contract: { chainId, address } }));
    const { data } = await send(TokenNames, { tokens });
    // The button stays to try again.
    if (data)
      setNamed(new Map(data.tokens.flatMap((token) => (token?.address ? [[token.address, token]] : []))));
  };
  const isAbsent = search.state === 'absent' && (isFound || search.after === null);
  const tokens = contracts.flatMap((address) => tokenAt(address) ?? []);
  return html`<section class="panel stack details" aria-labelledby="tx-title">
    <${Head} hash=${hash} chain=${nameOf(chainId)} />
    ${found && html`<${Sides} transaction=${found} side=${side} isPart=${items.length > 0} onSide=${setGiven} />`}
    ${
      items.length > 0 &&
      html`<ul class="stack acts">${items.map((item) => html`<${ItemLine} key=${item.id} item=${item} thin=${known?.thin ?? NO_TOKENS} />`)}</ul>
      ${found && items.every(({ type }) => type === 'CALL') && isMoving(found) && html`<p class="quiet">What it moved went between other addresses: its events say which.</p>`}
      ${named === NO_NAMES && html`<${NameTokens} contracts=${contracts.filter((address) => tokenAt(address) === null).slice(0, MOST_NAMED)} onName=${name} />`}
      <${Flow} items=${items} address=${side} />`
    }
    ${!isFound && wallet === null ? html`<${WalletWanted} onGiven=${setGiven} />` : html`<${Finding} newer=${null} tokens=${tokens} ...${reading} />`}
    ${isAbsent && !isFound && html`<${WalletWanted} onGiven=${setGiven} />`}
    ${isAbsent && html`<${OtherChains} hash=${hash} but=${chainId} />`}
    ${found && html`<${RawJson} value=${found} />`}
    ${wallet !== null && html`<p><a href=${hrefOf('wallet', [wallet], { tab: 'activity' })}>Activity of ${shortHex(wallet)}</a></p>`}
  </section>`;
};

type SidesProps = {
  transaction: NonNullable<TransactionByHashQuery['transaction']>;
  side: string;
  /** Whether the side took any part that is known. */
  isPart: boolean;
  onSide: (address: string) => void;
};

/** Whose side the page shows, and the other ones. */
const Sides = ({ transaction, side, isPart, onSide }: SidesProps) => {
  const { from, to } = transaction;
  const others = [...new Set([from, to])].flatMap((other) =>
    other === null || other === side ? [] : [other],
  );
  return html`<p>Seen from <${Address} value=${side} />${others.map((other) => html` · <button type="button" class="more" onClick=${() => onSide(other)}>From ${shortHex(other)}’s side</button>`)}</p>
    ${
      !isPart &&
      html`<${Empty} title="This wallet takes no part in this transaction">
        It neither sent nor received it, and by its events it gave, got and allowed nothing. Of the chain’s own currency that contracts passed on, they say nothing.${isNamedIn(transaction, side) && ' The call or an event names it.'}
      <//>`
    }`;
};

type NameTokensProps = {
  contracts: readonly string[];
  onName: (contracts: readonly string[]) => Promise<void>;
};

const NameTokens = ({ contracts, onName }: NameTokensProps) =>
  contracts.length > 0 &&
  html`<p><button type="button" onClick=${() => onName(contracts)}>Name ${counted(contracts.length, 'token', 'tokens')}: ${formatCount(NAME_CU * contracts.length)} CU at most</button></p>`;

/** The service knows no transaction by its hash alone. */
const WalletWanted = ({ onGiven }: { onGiven: (address: string) => void }) => {
  const [text, setText] = useState('');
  const onSubmit = (event: Event) => {
    event.preventDefault();
    if (isAddress(text.trim())) onGiven(text.trim().toLowerCase());
  };
  return html`<form class="stack" onSubmit=${onSubmit}>
    <p>This service finds a transaction only in the list of a wallet that sent or received it.</p>
    <div class="bar"><label for="tx-wallet">Wallet</label><input id="tx-wallet" value=${text} placeholder="0x…" autocomplete="off" spellcheck=${false} onInput=${(event: Event) => setText((event.currentTarget as HTMLInputElement).value)} /><button type="submit" disabled=${!isAddress(text.trim())}>Look in its list</button></div>
  </form>`;
};
