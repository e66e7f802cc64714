import { isUnlimited } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { Avatar } from '../avatar.ts';
import { useChainNames } from '../chains.ts';
import { Address, html } from '../components.ts';
import { download } from '../download.ts';
import { formatUtc, inWords, shorten, shortHex } from '../format.ts';
import { type ActivityItem, CREATION, functionOf, movesOf, symbolOf } from './activity-model.ts';
import { AssetName, allowanceOf, assetText, isNobody } from './activity-words.ts';
import { drawFlow, nameIn } from './flow-image.ts';

/** Who gave what to whom in a transaction, as a picture: the wallet on the left, the others on the right. */

type Lane = {
  /** `note`: nothing moved along it. */
  readonly tone: 'in' | 'out' | 'note';
  /** Where the arrow points: to the wallet, or away from it. */
  readonly points: 'in' | 'out';
  /** For those who do not see the arrow. */
  readonly word: string;
  readonly what: ComponentChildren;
  readonly text: string;
};

const NOBODY = 'nobody';
const UNKNOWN = 'unknown';
const UNNAMED: Readonly<Record<string, string>> = { [NOBODY]: 'the token itself', [UNKNOWN]: 'not named' };

const partyOf = (address: string | null, type: ActivityItem['type']): string => {
  if ((type === 'MINT' || type === 'BURN') && isNobody(address)) return NOBODY;
  return address ?? UNKNOWN;
};

const permission = (item: ActivityItem): Pick<Lane, 'what' | 'text'> => {
  const allowance = allowanceOf(item);
  const symbol = shorten(symbolOf(item.token, item.chainId), 24);
  const amount =
    item.value !== null && isUnlimited(item.value) ? `any amount of ${symbol}` : `up to ${assetText(item)}`;
  const isAmount = item.tokenId === null && item.assetType === 'ERC20';
  const text =
    allowance === null ? `revoked: may no longer spend ${symbol}` : `may spend ${isAmount ? amount : symbol}`;
  return { text, what: allowance === null ? text : html`may spend ${allowance}` };
};

const lanesOf = (item: ActivityItem): readonly (readonly [party: string, lane: Lane])[] => {
  const { type, chainId, spender } = item;
  const moved = movesOf(item).map(({ direction, party, ...asset }): readonly [string, Lane] => [
    partyOf(party, type),
    {
      ...{ tone: direction, points: direction },
      word: direction === 'in' ? 'this wallet got' : 'this wallet gave',
      what: html`<${AssetName} ...${asset} chainId=${chainId} />`,
      text: assetText({ ...asset, chainId }),
    },
  ]);
  if (moved.length > 0) return moved;
  if (type === 'APPROVE')
    return [[spender ?? UNKNOWN, { tone: 'note', points: 'out', word: 'allowance', ...permission(item) }]];
  const name = functionOf(item)?.name;
  const text = item.typeName === CREATION ? 'creates' : name ? inWords(shorten(name, 40)) : 'a call';
  // A call that came in names its caller.
  const isIn = item.from !== null;
  const word = isIn ? 'called this wallet' : 'called by this wallet';
  const party = (isIn ? item.from : item.to) ?? UNKNOWN;
  return [[party, { tone: 'note', points: isIn ? 'in' : 'out', word, what: text, text }]];
};

const MOST_LANES = 12;

const Party = ({ party }: { party: string }) => {
  if (party in UNNAMED) return html`<span class="quiet">${UNNAMED[party]}</span>`;
  return html`<${Avatar} address=${party} size=${20} /><${Address} value=${party} />`;
};

/** The movements of a transaction between the wallet and each other side. */
export const Flow = ({ items, address }: { items: readonly ActivityItem[]; address: string }) => {
  const lanes = items.flatMap(lanesOf);
  const parties = new Map<string, Lane[]>();
  for (const [party, lane] of lanes.slice(0, MOST_LANES))
    parties.set(party, [...(parties.get(party) ?? []), lane]);
  const others = lanes.length - MOST_LANES;
  const nameOf = useChainNames();
  const [{ transactionHash = '', chainId = null, blockTime = null } = {}] = items;
  const save = () => {
    const title = `Transaction ${shortHex(transactionHash ?? '')}`;
    const facts = `${nameOf(chainId)}${blockTime ? `, ${formatUtc(blockTime)}` : ''}`;
    const drawn = lanes.slice(0, MOST_LANES).map(([party, { tone, points, text }]) => {
      return { tone, points, text, party: UNNAMED[party] ?? nameIn(party) };
    });
    drawFlow(title, facts, address, drawn).toBlob(
      (image) => image && download(`${transactionHash}.png`, image),
    );
  };
  return html`<figure class="flow" aria-label="Who gave what to whom">
    <div class="flow-picture">
      <div class="bar flow-party is-wallet"><${Party} party=${address} /><span class="quiet">this wallet</span></div>
      <ul class="stack flow-sides">
        ${[...parties].map(
          ([party, own]) => html`<li key=${party}>
            <ul class="stack tight flow-lanes">${own.map(({ tone, points, word, what }, index) => html`<li key=${index} class=${`is-${tone} points-${points}`}><span class="visually-hidden">${word} </span><span class="flow-what">${what}</span><span class="flow-arrow" aria-hidden="true"></span></li>`)}</ul>
            <div class="bar flow-party"><${Party} party=${party} /></div>
          </li>`,
        )}
      </ul>
    </div>
    <button type="button" class="more" onClick=${save}>Save as an image</button>
    ${others > 0 && html`<figcaption class="quiet">and ${others} more, which the list above has</figcaption>`}
  </figure>`;
};
