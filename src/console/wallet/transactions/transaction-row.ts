import { useState } from 'preact/hooks';
import type { TransactionRowFragment } from '../../__generated__/operations.ts';
import type { Item } from '../../api/use-connection.ts';
import { Address, Hash } from '../../components/copyable.ts';
import { inWords, shorten, shortHex } from '../../format/text.ts';
import { formatAge, formatTime } from '../../format/time.ts';
import { formatUnits, NATIVE_DECIMALS, nativeSymbol } from '../../format/units.ts';
import { html } from '../../html.ts';
import { transactionText } from './decoded-text.ts';
import { counterpartyOf, DIRECTIONS, directionOf } from './direction.ts';
import { TransactionDetails } from './transaction-details.ts';

type Props = {
  item: Item<TransactionRowFragment>;
  address: string;
  chainIds: readonly number[];
  now: number;
  onReload: () => void;
};

const Sides = ({ transaction, address }: { transaction: TransactionRowFragment; address: string }) => {
  const direction = directionOf(transaction, address);
  const { word, glyph } = DIRECTIONS[direction];
  const counterparty = counterpartyOf(transaction, address);
  const isFrom = counterparty === transaction.from;
  return html`<span class=${`direction is-${direction}`}><span aria-hidden="true">${glyph}</span> ${word}</span>
    ${counterparty !== null && direction !== 'self' && html`<span class="party"><span class="quiet">${isFrom ? 'from' : 'to'}</span> <${Address} value=${counterparty} /></span>`}`;
};

/** One transaction in a line, which opens to its details. */
export const TransactionRow = ({ item, address, chainIds, now, onReload }: Props) => {
  const [{ isOpen, wasOpened }, setOpen] = useState({ isOpen: false, wasOpened: false });
  const transaction = item.node;
  const { hash, chain, chainId, blockTime, value, success } = transaction;
  const details = `details-${address}-${transaction.id}`;
  const toggle = () => setOpen((before) => ({ isOpen: !before.isOpen, wasOpened: true }));
  return html`<li class="transaction" data-hash=${hash}>
    <div class="bar">
      <${Sides} transaction=${transaction} address=${address} />
      <span class="call">${transactionText(transaction)}</span>
      ${success === false && html`<span class="tag is-bad">failed</span>`}
      ${value !== null && html`<span class=${/^0*$/.test(value) ? 'amount push quiet' : 'amount push'}>${formatUnits(value, NATIVE_DECIMALS)} ${nativeSymbol(chainId)}</span>`}
    </div>
    <div class="bar quiet">
      <span class="tag">${inWords(shorten(chain, 40))}</span>
      <time datetime=${blockTime} title=${formatTime(blockTime)}>${formatAge(blockTime, now)}</time>
      <${Hash} value=${hash} label="transaction hash" />
      <button type="button" class="more push" aria-expanded=${isOpen} aria-controls=${wasOpened ? details : undefined} onClick=${toggle}>Details<span class="visually-hidden"> of ${shortHex(hash)}</span></button>
    </div>
    ${wasOpened && html`<div id=${details} hidden=${!isOpen}><${TransactionDetails} item=${item} address=${address} chainIds=${chainIds} onReload=${onReload} /></div>`}
  </li>`;
};
