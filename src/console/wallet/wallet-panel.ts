import { useState } from 'preact/hooks';
import { ChainFilter } from '../components/chain-filter.ts';
import { CopyButton } from '../components/copyable.ts';
import { panelId, type Tab, TabList, tabId } from '../components/tabs.ts';
import { shortHex } from '../format/text.ts';
import { html } from '../html.ts';
import { nameOf } from '../settings.ts';
import { hrefOf } from '../state/route.ts';
import { Collectibles } from './collectibles/collectibles.ts';
import { Transactions } from './transactions/transactions.ts';
import { WatchButton } from './watch-button.ts';

const TABS = [
  { id: 'transactions', title: 'Transactions' },
  { id: 'collectibles', title: 'Collectibles' },
] as const satisfies readonly Tab<string>[];
type TabName = (typeof TABS)[number]['id'];

const LISTS = { transactions: Transactions, collectibles: Collectibles };

type Shown = {
  readonly tab: TabName;
  /** Tabs whose lists are loaded. A list is not asked for before its tab is opened. */
  readonly opened: readonly TabName[];
  readonly chainIds: readonly number[];
};

type Props = { address: string; shown: readonly string[] };

const Head = ({ address, shown }: Props) => {
  const title = nameOf(address) ?? shortHex(address);
  const others = shown.filter((other) => other !== address);
  return html`<header class="bar">
    <h2 id=${`wallet-${address}`} title=${address}>${title}</h2>
    <${CopyButton} text=${address} label=${`address of ${title}`} />
    <${WatchButton} address=${address} title=${title} />
    <a href=${hrefOf('live', [], { address })}>Live events<span class="visually-hidden"> of ${title}</span></a>
    ${others.length > 0 && html`<a class="button push" href=${hrefOf('wallet', others)} aria-label=${`Close ${title}`} title="Close">✕</a>`}
  </header>`;
};

/** One wallet: what can be done with it, and its lists. */
export const WalletPanel = ({ address, shown }: Props) => {
  const [{ tab, opened, chainIds }, setShown] = useState<Shown>({
    tab: 'transactions',
    opened: ['transactions'],
    chainIds: [],
  });
  const select = (next: TabName) =>
    setShown((before) => ({ ...before, tab: next, opened: [...new Set([...before.opened, next])] }));
  // The list behind the other tab is asked for again when that is opened, not before.
  const filter = (ids: readonly number[]) => setShown({ tab, opened: [tab], chainIds: ids });
  return html`<section class="panel stack wallet" aria-labelledby=${`wallet-${address}`}>
    <${Head} address=${address} shown=${shown} />
    <div class="bar">
      <${TabList} name=${address} label="Lists of the wallet" tabs=${TABS} selected=${tab} onSelect=${select} />
      <${ChainFilter} selected=${chainIds} onChange=${filter} />
    </div>
    ${TABS.map(
      ({
        id,
      }) => html`<div key=${id} role="tabpanel" id=${panelId(address, id)} aria-labelledby=${tabId(address, id)} hidden=${id !== tab}>
        ${opened.includes(id) && html`<${LISTS[id]} address=${address} chainIds=${chainIds} />`}
      </div>`,
    )}
  </section>`;
};
