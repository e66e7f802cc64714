import { formatAmount } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { OnChain, useChainNames, useExplorer } from '../chains.ts';
import { Facts, html, TransactionHash } from '../components.ts';
import { formatClock, formatDay, formatUsdBriefly, formatUtc, shortHex } from '../format.ts';
import { Finding, useTransaction } from '../wallet/find-transaction.ts';
import { CallText, decodedText, RawJson } from '../wallet/transaction-details.ts';
import { Flow } from './activity-flow.ts';
import {
  type ActivityItem,
  amountOf,
  functionOf,
  type Happening,
  type Kind,
  kindOf,
  type Move,
  movesOf,
  tokensIn,
  worthOf,
} from './activity-model.ts';
import { assetText, Sentence } from './activity-words.ts';

const ICONS: Readonly<Record<Kind, string>> = {
  sent: 'M5 11 11 5M6 5h5v5',
  received: 'M11 5 5 11M5 6v5h5',
  swapped: 'M3 6h10L10 3M13 10H3l3 3',
  minted: 'M8 3v10M3 8h10',
  burned: 'M4 4l8 8M12 4l-8 8',
  approved: 'M3.5 8.5 6.5 11.5 12.5 4.5',
  revoked: 'M4.5 12.5 11.5 3.5M13 8a5 5 0 1 1-10 0 5 5 0 0 1 10 0',
  called: 'M6 4 2.5 8 6 12M10 4l3.5 4L10 12',
  other: 'M3 8h2M7 8h2M11 8h2',
};

/** Swaps and those that gain or allow something stand out. */
const TONES: Readonly<Partial<Record<Kind, string>>> = {
  received: 'good',
  minted: 'good',
  swapped: 'is-swapped',
  approved: 'warn',
};

const SIGNS = { in: '+', out: '−' } as const;

const Signed = ({ move, chainId }: { move: Move; chainId: number | null }) =>
  html`<span class=${move.direction === 'in' ? 'strong good' : 'strong'} title=${move.value !== null && move.tokenId === null && amountOf(move.value, move.token, chainId).exact}>${SIGNS[move.direction]}${assetText({ ...move, chainId })}</span>`;

type ItemProps = { item: ActivityItem; thin: ReadonlySet<string> };

/** What an activity is worth; a price that can not be believed is marked. */
const Worth = ({ item, thin }: ItemProps) => {
  const worth = worthOf(item, thin);
  const isOfNow = useExplorer() !== null;
  if (worth !== null)
    return html`<span class="quiet small" title=${isOfNow ? 'At today’s price' : undefined}>${formatUsdBriefly(worth)}</span>`;
  const claimed = movesOf(item).length > 0 ? item.valueUsd : null;
  return (
    claimed &&
    html`<span class="quiet small" title=${`The service says ${formatUsdBriefly(claimed)}, by the price of a pool with little liquidity.`}>no reliable price</span>`
  );
};

/** An activity in a line: what it says, what moved, and what that is worth. */
export const ItemLine = ({ item, thin, children }: ItemProps & { children?: ComponentChildren }) => {
  const kind = kindOf(item);
  return html`<li class="act">
    <svg class=${`act-icon ${TONES[kind] ?? ''}`} viewBox="0 0 16 16" aria-hidden="true"><path d=${ICONS[kind]} /></svg>
    <div><p><${Sentence} item=${item} /></p>${children}</div>
    <p class="act-moved">${movesOf(item).map((move, index) => html`<${Signed} key=${index} move=${move} chainId=${item.chainId} />`)}<${Worth} item=${item} thin=${thin} /></p>
  </li>`;
};

const SHOWN = 4;

export type HappeningProps = {
  happening: Happening;
  address: string;
  thin: ReadonlySet<string>;
  isOpen: boolean;
  onToggle: (hash: string, isOpen: boolean) => void;
  /** How many loaded transactions of the chain are newer: those before it in the list. */
  newer: number;
  withDay: boolean;
};

/** One transaction: a sentence for each activity, which opens to what it did. */
export const HappeningRow = ({
  happening,
  address,
  thin,
  isOpen,
  onToggle,
  newer,
  withDay,
}: HappeningProps) => {
  const { key, hash, chainId, time, day, items } = happening;
  const row = useRef<HTMLLIElement>(null);
  const nameOf = useChainNames();
  const details = `activity-${address}-${key}`;
  const others = items.length - SHOWN;
  // A link leads to the row that it opens.
  useEffect(() => {
    if (isOpen) row.current?.scrollIntoView({ block: 'nearest' });
  }, []);
  const shown = items.slice(0, isOpen ? items.length : SHOWN);
  const foot = html`${!isOpen && others > 0 && html`<p class="quiet">and ${others} more in this transaction</p>`}
    <div class="bar quiet small act-foot">
      <time datetime=${time} title=${formatUtc(time)}>${withDay && `${formatDay(day)}, `}${formatClock(time)}</time>
      <span class="tag">${nameOf(chainId)}</span>
      <${TransactionHash} value=${hash} chainId=${chainId} wallet=${address} />
      <button type="button" class="more" aria-expanded=${isOpen} aria-controls=${isOpen ? details : undefined} onClick=${() => onToggle(hash, isOpen)}>${isOpen ? 'Close' : 'What happened'}<span class="visually-hidden"> in ${shortHex(hash)}</span></button>
    </div>`;
  return html`<${OnChain} chainId=${chainId}><li class="stack happening" ref=${row} data-activity=${hash}>
    <ul class="stack tight">${shown.map((item, index) => html`<${ItemLine} key=${item.id} item=${item} thin=${thin}>${index === shown.length - 1 && foot}<//>`)}</ul>
    ${isOpen && html`<div id=${details}><${Details} happening=${happening} address=${address} thin=${thin} newer=${newer} /></div>`}
  </li><//>`;
};

type DetailsProps = Pick<HappeningProps, 'happening' | 'address' | 'thin' | 'newer'>;

/** What it did: what its activities say is free, its call and its events are read when they are asked for. */
const Details = ({ happening, address, thin, newer }: DetailsProps) => {
  const { hash, chainId, time, items } = happening;
  const nameOf = useChainNames();
  const reading = useTransaction({ address, hash, chainId, time }, false);
  const found = reading.search.state === 'found' ? reading.search.transaction : null;
  const called = items.flatMap((item) => functionOf(item) ?? [])[0];
  const [{ blockNumber = null, contractName = null } = {}] = items;
  return html`<div class="details stack">
    <${Flow} items=${items} address=${address} thin=${thin} />
    <${Facts} facts=${[
      ['Chain', `${nameOf(chainId)} (${chainId})`],
      ['Block', !found && blockNumber !== null && formatAmount(blockNumber, 0)],
      ['Transaction', html`<${TransactionHash} value=${hash} chainId=${chainId} wallet=${address} />`],
      ['Contract', contractName],
    ]} />
    ${called && !found && html`<section class="stack"><h3>Call</h3><${CallText} decoded=${called} text=${decodedText(called)} /></section>`}
    <${Finding} newer=${newer} tokens=${items.flatMap(tokensIn)} ...${reading} />
    <${RawJson} value=${found ? { activities: items, transaction: found } : items} />
  </div>`;
};
