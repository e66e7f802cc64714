import type { CollectibleCardFragment } from '../../__generated__/operations.ts';
import { Address } from '../../components/copyable.ts';
import { inWords, shorten, shortHex } from '../../format/text.ts';
import { formatUnits } from '../../format/units.ts';
import { html } from '../../html.ts';
import { Picture } from './picture.ts';

/** Its name, or its symbol with its token id. */
export const collectibleTitle = ({ name, symbol, tokenId }: CollectibleCardFragment): string =>
  shorten(name?.trim() ?? '') || `${shorten(symbol?.trim() || 'Token', 30)} #${shortHex(tokenId)}`;

type Props = { collectible: CollectibleCardFragment; onOpen: () => void };

/** One collectible. Its button opens the rest. */
export const CollectibleCard = ({ collectible, onOpen }: Props) => {
  const { chain, contractAddress, tokenStandardName, balance, lastSalePrice, isSpam } = collectible;
  const title = collectibleTitle(collectible);
  return html`<li class="card" data-collectible=${collectible.id}>
    <${Picture} collectible=${collectible} alt=${`Picture of ${title}`} />
    <h3>${title}</h3>
    <p class="tags">
      <span class="tag">${inWords(shorten(chain, 40))}</span>
      ${tokenStandardName && html`<span class="tag">${shorten(tokenStandardName, 20)}</span>`}
      ${isSpam && html`<span class="tag is-warn">spam</span>`}
    </p>
    <p class="quiet">Contract <${Address} value=${contractAddress} /></p>
    ${balance !== '1' && html`<p class="quiet">Holds ${shorten(formatUnits(balance, 0), 40)}</p>`}
    ${lastSalePrice !== null && html`<p class="quiet">Last sale ${shorten(lastSalePrice, 20)}</p>`}
    <button type="button" class="more" onClick=${onOpen}>Details and score<span class="visually-hidden"> of ${title}</span></button>
  </li>`;
};
