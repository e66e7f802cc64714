import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type MovedTokenFragment, TokenNames, TransactionByHash } from '../__generated__/operations.ts';
import { Flow } from '../activity/activity-flow.ts';
import { ItemLine } from '../activity/activity-row.ts';
import { knownHappening, knownToken } from '../activity/known.ts';
import { send } from '../api/client.ts';
import { isSupported, mostLikely, OnChain, useChain, useChainNames, useChains } from '../chains.ts';
import { Address, CopyButton, Empty, ExplorerLink, html, Skeleton } from '../components.ts';
import { counted, formatCount, shorten, shortHex } from '../format.ts';
import { nameOfAddress } from '../labels.ts';
import { hrefOf, isAddress, isHash, replacePart, route, useParam } from '../route.ts';
import { useStore } from '../state.ts';
import { Finding, useTransaction } from './find-transaction.ts';
import { activitiesOf, contractsIn, isMoving, isNamedIn } from './moved.ts';
import { RawJson, type Whole } from './transaction-details.ts';

const PLACE = /^(\d{1,15})\/(0x[\da-f]{64})$/i;

/** The transaction in the address bar: `#/tx/1/0x…?wallet=0x…`, or `#/tx/0x…` while its chain is not known. */
export const TransactionView = () => {
  const [text = ''] = useStore(route).path;
  const chains = useChains();
  if (isHash(text))
    return html`<${Unread} key=${text.toLowerCase()} chainId=${null} hash=${text.toLowerCase()} />`;
  const [, chain = '', hash = ''] = PLACE.exec(text) ?? [];
  if (hash === '')
    return html`<${Empty} title="This link names no transaction">Expected the id of a chain and a hash, 1/0x… with 64 hex digits, got ${text === '' ? 'nothing' : `“${shorten(text, 90)}”`}.<//>`;
  const place = { chainId: Number(chain), hash: hash.toLowerCase() };
  if (chains.length === 0) return html`<${Skeleton} rows=${4} />`;
  if (!chains.some(({ chainId }) => chainId === place.chainId)) return html`<${Unread} ...${place} />`;
  return html`<${OnChain} chainId=${place.chainId}><${Transaction} key=${text.toLowerCase()} ...${place} /><//>`;
};

type SheetProps = { hash: string; chain: string | null; children: ComponentChildren };

/** The page of a transaction, under its hash. */
const Sheet = ({ hash, chain, children }: SheetProps) => {
  const title = `Transaction ${shortHex(hash)}`;
  useEffect(() => {
    document.title = `${title} · EVM gateway`;
  }, [title]);
  return html`<section class="panel stack details" aria-labelledby="tx-title">
    <div class="bar"><h2 id="tx-title">${title}</h2>${chain !== null && html`<span class="tag">${chain}</span>`}<span class="push quiet">Link to this page <${CopyButton} text=${location.href} label="link to this page" /></span></div>
    <p class="quiet"><code>${hash}</code><${CopyButton} text=${hash} label="transaction hash" /><${ExplorerLink} path=${`tx/${hash}`} /></p>
    ${children}
  </section>`;
};

type Place = { chainId: number; hash: string };

/** A transaction that can't be read: of no chain, or of one that is not served. */
const Unread = ({ chainId, hash }: { chainId: number | null; hash: string }) =>
  html`<${Sheet} hash=${hash} chain=${chainId === null ? null : `chain ${chainId}`}>
    ${chainId === null ? html`<p>A hash does not say which chain it is of.</p>` : html`<${Empty} title=${`This gateway does not serve chain ${chainId}`}>It can’t say whether the transaction is there.<//>`}
    <${OtherChains} hash=${hash} but=${chainId} />
  <//>`;

type Looking = { readonly isLooking: boolean; readonly without: number; readonly failed: readonly string[] };

const NOT_YET: Looking = { isLooking: false, without: 0, failed: [] };

type OtherChainsProps = {
  hash: string;
  /** The chain that is known not to have it; null where none is. */
  but: number | null;
};

/** The chains that may have a transaction, each as a link; and a search on all of them, where the service finds it by its hash. */
const OtherChains = ({ hash, but }: OtherChainsProps) => {
  const chains = mostLikely(useChains()).filter(({ chainId }) => chainId !== but);
  const nameOf = useChainNames();
  const [wallet] = useParam('wallet');
  const [looking, setLooking] = useState(NOT_YET);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const look = async (): Promise<void> => {
    running.current = new AbortController();
    const { signal } = running.current;
    let seen = { ...NOT_YET, isLooking: true };
    setLooking(seen);
    for (const { chainId } of chains) {
      const { data, problems } = await send(TransactionByHash, { chainId, hash }, signal);
      if (signal.aborted) return;
      if (data?.transaction) return replacePart(but === null ? hash : `${but}/${hash}`, `${chainId}/${hash}`);
      seen =
        problems.length > 0
          ? { ...seen, failed: [...seen.failed, nameOf(chainId)] }
          : { ...seen, without: seen.without + 1 };
      setLooking(seen);
    }
    setLooking({ ...seen, isLooking: false });
  };
  if (chains.length === 0) return null;
  const { isLooking, without, failed } = looking;
  const all = counted(chains.length, 'chain', 'chains');
  return html`<section class="stack" aria-label="Chains to look on">
    ${chains.length > 1 && isSupported(chains, 'TRANSACTION') && html`<p><button type="button" disabled=${isLooking} onClick=${() => void look().catch(() => {})}>Look on ${but === null ? '' : 'the other '}${all} in turn: ${formatCount(chains.length)} CU at most</button></p>`}
    <p role="status">${without + failed.length > 0 && `${counted(without, 'chain has', 'chains have')} no transaction with this hash.${failed.length > 0 ? ` Not answered: ${failed.join(', ')}.` : ''}`}</p>
    <p>${but === null ? 'It may be on one of these chains:' : 'Other chains:'}</p>
    <ul class="bar">${chains.map(({ chainId }) => html`<li key=${chainId}><a href=${hrefOf('tx', [`${chainId}/${hash}`], wallet ? { wallet } : {})}>${nameOf(chainId)}</a></li>`)}</ul>
  </section>`;
};

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
  const reading = useTransaction({ address: wallet ?? '', chainId, hash }, isFound);
  const { search } = reading;
  const [named, setNamed] = useState(NO_NAMES);
  const found = search.state === 'found' ? search.transaction : null;
  const side = wallet ?? found?.from ?? '';
  const known = knownHappening(side, chainId, hash);
  const tokenAt = (address: string) => named.get(address) ?? knownToken(chainId, address);
  const items = known?.items ?? (found ? activitiesOf(found, side, tokenAt) : []);
  const contracts = found ? contractsIn(found) : [];
  const unnamed = contracts.filter((address) => tokenAt(address) === null).slice(0, MOST_NAMED);
  const name = async (addresses: readonly string[]) => {
    const tokens = addresses.map((address) => ({ contract: { chainId, address } }));
    const { data } = await send(TokenNames, { tokens });
    // The button stays to try again.
    if (data)
      setNamed(new Map(data.tokens.flatMap((token) => (token?.address ? [[token.address, token]] : []))));
  };
  const isAbsent = search.state === 'absent' && (isFound || search.after === null);
  const tokens = contracts.flatMap((address) => tokenAt(address) ?? []);
  return html`<${Sheet} hash=${hash} chain=${nameOf(chainId)}>
    ${found && html`<${Sides} transaction=${found} side=${side} isPart=${items.length > 0} onSide=${setGiven} />`}
    ${
      items.length > 0 &&
      html`<ul class="stack tight">${items.map((item) => html`<${ItemLine} key=${item.id} item=${item} thin=${known?.thin ?? NO_TOKENS} />`)}</ul>
      ${found && items.every(({ type }) => type === 'CALL') && isMoving(found) && html`<p class="quiet">What it moved went between other addresses: see its events.</p>`}
      ${named === NO_NAMES && unnamed.length > 0 && html`<p><button type="button" onClick=${() => name(unnamed)}>Name ${counted(unnamed.length, 'token', 'tokens')}: ${formatCount(NAME_CU * unnamed.length)} CU at most</button></p>`}
      <${Flow} items=${items} address=${side} thin=${known?.thin ?? NO_TOKENS} />`
    }
    ${!isFound && wallet === null ? html`<${WalletWanted} onGiven=${setGiven} />` : html`<${Finding} tokens=${tokens} ...${reading} />`}
    ${isAbsent && !isFound && html`<${WalletWanted} onGiven=${setGiven} />`}
    ${isAbsent && html`<${OtherChains} hash=${hash} but=${chainId} />`}
    ${found && html`<${RawJson} value=${found} />`}
    ${wallet !== null && html`<p><a href=${hrefOf('wallet', [wallet], { tab: 'activity' })}>Activity of ${nameOfAddress(wallet)}</a></p>`}
  <//>`;
};

type SidesProps = {
  transaction: Whole;
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
  return html`<p>Seen from <${Address} value=${side} />${others.map((other) => html` · <button type="button" class="more" onClick=${() => onSide(other)}>From the side of ${nameOfAddress(other)}</button>`)}</p>
    ${
      !isPart &&
      html`<${Empty} title="This wallet takes no part in this transaction">
        It neither sent nor received it, and no event says that it gave, got or allowed anything. Where a contract passed on the chain’s own currency, none would.${isNamedIn(transaction, side) && ' The call or an event names it.'}
      <//>`
    }`;
};

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
