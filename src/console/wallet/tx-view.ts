import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { type MovedTokenFragment, TokenNames } from '../__generated__/operations.ts';
import { Finding, useTransaction } from '../activity/activity-details.ts';
import { Flow } from '../activity/activity-flow.ts';
import { Sentence } from '../activity/activity-words.ts';
import { send } from '../api/client.ts';
import { useChain, useChainNames, useChains } from '../chain-filter.ts';
import { Address, CopyButton, Empty, ExplorerLink, html, Skeleton } from '../components.ts';
import { OnChain } from '../explorers.ts';
import { counted, formatCount, shorten, shortHex } from '../format.ts';
import { hrefOf, isAddress, isHash, route, useParam } from '../route.ts';
import { useStore } from '../state.ts';
import { activitiesOf, contractsIn } from './moved.ts';
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
  const items = useMemo(() => (found ? activitiesOf(found, side, named) : []), [found, side, named]);
  const contracts = found ? contractsIn(found).slice(0, MOST_NAMED) : [];
  const name = useCallback(async () => {
    const tokens = contracts.map((address) => ({ contract: { chainId, address } }));
    const { data } = await send(TokenNames, { tokens });
    // The button stays to try again.
    if (data)
      setNamed(new Map(data.tokens.flatMap((token) => (token?.address ? [[token.address, token]] : []))));
  }, [found]);
  const isAbsent = search.state === 'absent' && (isFound || search.after === null);
  return html`<section class="panel stack details" aria-labelledby="tx-title">
    <${Head} hash=${hash} chain=${nameOf(chainId)} />
    ${
      found &&
      html`<p>Seen from <${Address} value=${side} />${[found.from, found.to].flatMap((other) =>
        other === null || other === side
          ? []
          : html` · <button type="button" class="more" onClick=${() => setGiven(other)}>From ${shortHex(other)}’s side</button>`,
      )}</p>
      <ul class="stack acts">${items.map((item) => html`<li key=${item.id}><${Sentence} item=${item} /></li>`)}</ul>
      ${named === NO_NAMES && contracts.length > 0 && html`<p><button type="button" onClick=${name}>Name ${counted(contracts.length, 'token', 'tokens')}: ${formatCount(NAME_CU * contracts.length)} CU at most</button></p>`}
      <${Flow} items=${items} address=${side} />`
    }
    ${!isFound && wallet === null ? html`<${WalletWanted} onGiven=${setGiven} />` : html`<${Finding} newer=${null} tokens=${[...named.values()]} ...${reading} />`}
    ${isAbsent && !isFound && html`<${WalletWanted} onGiven=${setGiven} />`}
    ${isAbsent && html`<${OtherChains} hash=${hash} but=${chainId} />`}
    ${found && html`<${RawJson} value=${found} />`}
    ${wallet !== null && html`<p><a href=${hrefOf('wallet', [wallet], { tab: 'activity' })}>Activity of ${shortHex(wallet)}</a></p>`}
  </section>`;
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
