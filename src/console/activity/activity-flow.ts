import type { ComponentChildren } from 'preact';
import { Avatar } from '../avatar.ts';
import { Address, html } from '../components.ts';
import { inWords, shorten } from '../format.ts';
import { type ActivityItem, functionOf, movesOf, symbolOf } from './activity-model.ts';
import { AssetName, allowanceOf, isNobody } from './activity-words.ts';

/** Who gave what to whom in a transaction, as a picture: the wallet on the left, the others on the right. */

type Lane = {
  /** `note`: nothing moved along it. */
  readonly tone: 'in' | 'out' | 'note';
  /** For those who do not see the arrow. */
  readonly word: string;
  readonly what: ComponentChildren;
};

const NOBODY = 'nobody';
const UNKNOWN = 'unknown';

const partyOf = (address: string | null, type: ActivityItem['type']): string => {
  if ((type === 'MINT' || type === 'BURN') && isNobody(address)) return NOBODY;
  return address ?? UNKNOWN;
};

const permission = (item: ActivityItem): ComponentChildren => {
  const allowance = allowanceOf(item);
  return allowance === null
    ? `revoked: may no longer spend ${shorten(symbolOf(item.token, item.chainId), 24)}`
    : html`may spend ${allowance}`;
};

const lanesOf = (item: ActivityItem): readonly (readonly [party: string, lane: Lane])[] => {
  const { type, chainId, spender } = item;
  const moved = movesOf(item).map(({ direction, party, ...asset }): readonly [string, Lane] => [
    partyOf(party, type),
    {
      tone: direction,
      word: direction === 'in' ? 'this wallet got' : 'this wallet gave',
      what: html`<${AssetName} ...${asset} chainId=${chainId} />`,
    },
  ]);
  if (moved.length > 0) return moved;
  if (type === 'APPROVE')
    return [[spender ?? UNKNOWN, { tone: 'note', word: 'allowance', what: permission(item) }]];
  const name = functionOf(item)?.name;
  return [
    [
      item.to ?? item.from ?? UNKNOWN,
      { tone: 'note', word: 'call', what: name ? inWords(shorten(name, 40)) : 'a call' },
    ],
  ];
};

const MOST_LANES = 12;

const Party = ({ party }: { party: string }) => {
  if (party === NOBODY) return html`<span class="quiet">the token itself</span>`;
  if (party === UNKNOWN) return html`<span class="quiet">not named</span>`;
  return html`<${Avatar} address=${party} size=${20} /><${Address} value=${party} />`;
};

/** The movements of a transaction between the wallet and each other side. */
export const Flow = ({ items, address }: { items: readonly ActivityItem[]; address: string }) => {
  const lanes = items.flatMap(lanesOf);
  const parties = new Map<string, Lane[]>();
  for (const [party, lane] of lanes.slice(0, MOST_LANES))
    parties.set(party, [...(parties.get(party) ?? []), lane]);
  const others = lanes.length - MOST_LANES;
  return html`<figure class="flow" aria-label="Who gave what to whom">
    <div class="flow-picture">
      <div class="flow-party is-wallet"><${Party} party=${address} /><span class="quiet">this wallet</span></div>
      <ul class="flow-sides">
        ${[...parties].map(
          ([party, own]) => html`<li key=${party}>
            <ul class="flow-lanes">${own.map(({ tone, word, what }, index) => html`<li key=${index} class=${`is-${tone}`}><span class="visually-hidden">${word} </span><span class="flow-what">${what}</span><span class="flow-arrow" aria-hidden="true"></span></li>`)}</ul>
            <div class="flow-party"><${Party} party=${party} /></div>
          </li>`,
        )}
      </ul>
    </div>
    ${others > 0 && html`<figcaption class="quiet">and ${others} more, which the list above has</figcaption>`}
  </figure>`;
};
