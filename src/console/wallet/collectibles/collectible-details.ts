import { useCallback } from 'preact/hooks';
import {
  type CollectibleCardFragment,
  type CollectiblePartsFragment,
  CollectibleDetails as Operation,
} from '../../__generated__/operations.ts';
import { send } from '../../api/client.ts';
import type { Item } from '../../api/use-connection.ts';
import { Address, Hash } from '../../components/copyable.ts';
import { Dialog } from '../../components/dialog.ts';
import { Facts } from '../../components/facts.ts';
import { inWords, shorten } from '../../format/text.ts';
import { formatTime } from '../../format/time.ts';
import { formatUnits } from '../../format/units.ts';
import { html } from '../../html.ts';
import { DetailsState } from '../list/details-state.ts';
import { useDetails } from '../list/use-details.ts';
import { collectibleTitle } from './collectible-card.ts';
import { SpamScore } from './spam-score.ts';

const MOST_TRAITS = 100;

const Traits = ({ metadata }: { metadata: NonNullable<CollectiblePartsFragment['metadata']> }) => {
  const { uri, attributes } = metadata;
  const others = attributes.length - MOST_TRAITS;
  return html`<h3>Traits${attributes.length === 0 && ': none'}</h3>
    <${Facts} facts=${attributes
      .slice(0, MOST_TRAITS)
      .map(({ key, value }) => [shorten(key || 'unnamed', 60), shorten(value ?? '', 500) || '—'])} />
    ${others > 0 && html`<p class="quiet">and ${others} more traits</p>`}
    ${uri && html`<p class="quiet">Metadata: ${shorten(uri, 300)}</p>`}`;
};

const Known = ({ card }: { card: CollectibleCardFragment }) => {
  const { chain, contractAddress, tokenId, balance, lastAcquired, lastSalePrice } = card;
  return html`<${Facts} facts=${[
    ['Chain', inWords(shorten(chain, 40))],
    ['Contract', html`<${Address} value=${contractAddress} />`],
    ['Token id', html`<${Hash} value=${tokenId} label="token id" />`],
    ['Amount', formatUnits(balance, 0)],
    ['Acquired', lastAcquired && formatTime(lastAcquired)],
    ['Last sale', lastSalePrice && `${shorten(lastSalePrice, 40)} in the service’s unit`],
  ]} />`;
};

type Props = {
  item: Item<CollectibleCardFragment>;
  list: { readonly address: string; readonly chainIds: readonly number[]; readonly includeSpam: boolean };
  onClose: () => void;
  onReload: () => void;
};

/** What a card leaves out. It is asked for when it is opened. */
export const CollectibleDetails = ({ item, list, onClose, onReload }: Props) => {
  const { node: card, before } = item;
  const { address, chainIds, includeSpam } = list;
  const load = useCallback(
    async (signal: AbortSignal) => {
      const variables = { address, after: before, chainIds, includeSpam };
      const { data, problems } = await send(Operation, variables, signal);
      return { node: data?.wallet.collectibles?.nodes[0] ?? null, problems };
    },
    [address, before, chainIds, includeSpam],
  );
  const [details, retry] = useDetails<CollectiblePartsFragment>(card.id, load);
  return html`<${Dialog} title=${collectibleTitle(card)} onClose=${onClose}>
    <div class="details stack">
      <${Known} card=${card} />
      ${
        details.state === 'loaded'
          ? html`${details.node.description && html`<p class="description">${shorten(details.node.description, 3000)}</p>`}
              ${details.node.metadata && html`<${Traits} metadata=${details.node.metadata} />`}
              <${SpamScore} collectible=${details.node} isSpam=${card.isSpam} />`
          : html`<${DetailsState} details=${details} onRetry=${retry} onReload=${onReload} />`
      }
    </div>
  <//>`;
};
