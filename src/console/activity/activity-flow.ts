import { isUnlimited } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { Avatar } from '../avatar.ts';
import { useChainNames } from '../chains.ts';
import { Address, html } from '../components.ts';
import { download } from '../download.ts';
import { formatUsdBriefly, formatUtc, inWords, shorten, shortHex } from '../format.ts';
import { nameOfAddress } from '../labels.ts';
import { type ActivityItem, CREATION, functionOf, movesOf, symbolOf, worthOf } from './activity-model.ts';
import { AssetName, allowanceOf, assetText, isNobody } from './activity-words.ts';

/** Who gave what to whom in a transaction, as a picture: the wallet on the left, the others on the right. */

type Lane = {
  /** An address, or the key of one of the `UNNAMED`. */
  readonly party: string;
  /** `note`: nothing moved along it. */
  readonly tone: 'in' | 'out' | 'note';
  /** Where the arrow points: to the wallet, or away from it. */
  readonly points: 'in' | 'out';
  /** For those who do not see the arrow. */
  readonly word: string;
  readonly what: ComponentChildren;
  readonly text: string;
  /** In dollars; null without a price that can be believed. */
  readonly worth: string | null;
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

const lanesOf = (item: ActivityItem, thin: ReadonlySet<string>): readonly Lane[] => {
  const { type, chainId, spender } = item;
  const worth = worthOf(item, thin);
  const moved = movesOf(item).map(({ direction, party, ...asset }): Lane => {
    const word = direction === 'in' ? 'this wallet got' : 'this wallet gave';
    const what = html`<${AssetName} ...${asset} chainId=${chainId} />`;
    const text = assetText({ ...asset, chainId });
    return { party: partyOf(party, type), tone: direction, points: direction, word, what, text, worth };
  });
  if (moved.length > 0) return moved;
  const note = { tone: 'note', worth: null } as const;
  if (type === 'APPROVE')
    return [{ ...note, party: spender ?? UNKNOWN, points: 'out', word: 'allowance', ...permission(item) }];
  const name = functionOf(item)?.name;
  const text = item.typeName === CREATION ? 'creates' : name ? inWords(shorten(name, 40)) : 'a call';
  // A call that came in names its caller.
  const isIn = item.from !== null;
  const word = isIn ? 'called this wallet' : 'called by this wallet';
  const party = (isIn ? item.from : item.to) ?? UNKNOWN;
  return [{ ...note, party, points: isIn ? 'in' : 'out', word, what: text, text }];
};

const MOST_LANES = 12;

const Party = ({ party }: { party: string }) => {
  if (party in UNNAMED) return html`<span class="quiet">${UNNAMED[party]}</span>`;
  return html`<${Avatar} address=${party} size=${20} /><${Address} value=${party} />`;
};

type FlowProps = { items: readonly ActivityItem[]; address: string; thin: ReadonlySet<string> };

/** The movements of a transaction between the wallet and each other side. */
export const Flow = ({ items, address, thin }: FlowProps) => {
  const all = items.flatMap((item) => lanesOf(item, thin));
  const lanes = all.slice(0, MOST_LANES);
  const parties = Map.groupBy(lanes, ({ party }) => party);
  const others = all.length - lanes.length;
  const nameOf = useChainNames();
  const [{ transactionHash = '', chainId = null, blockTime = null } = {}] = items;
  const save = () => {
    const title = `Transaction ${shortHex(transactionHash ?? '')}`;
    const facts = `${nameOf(chainId)}${blockTime ? `, ${formatUtc(blockTime)}` : ''}`;
    drawFlow(title, facts, address, lanes).toBlob(
      (image) => image && download(`${transactionHash}.png`, image),
    );
  };
  return html`<figure class="flow" aria-label="Who gave what to whom">
    <div class="panel flow-picture">
      <div class="panel bar flow-party is-wallet"><${Party} party=${address} /><span class="quiet small">this wallet</span></div>
      <ul class="stack flow-sides">
        ${[...parties].map(
          ([party, own]) => html`<li key=${party}>
            <ul class="stack tight flow-lanes">${own.map(({ tone, points, word, what }, index) => html`<li key=${index} class=${`is-${tone} points-${points}`}><span class="visually-hidden">${word} </span><span class="small">${what}</span><span class="flow-arrow" aria-hidden="true"></span></li>`)}</ul>
            <div class="panel bar flow-party"><${Party} party=${party} /></div>
          </li>`,
        )}
      </ul>
    </div>
    <button type="button" class="more" onClick=${save}>Save as an image</button>
    ${others > 0 && html`<figcaption class="quiet">and ${others} more, which are listed above</figcaption>`}
  </figure>`;
};

const WIDTH = 900;
const HEAD = 92;
const ROW = 44;
const INK = {
  text: '#14181d',
  quiet: '#55606d',
  line: '#d9dee5',
  in: '#17693a',
  out: '#b3261e',
  note: '#55606d',
};

/** Names are strangers' words: one that turns the direction of text would turn the line that it is in. */
const plain = (text: string): string => text.replace(/[\p{Cc}\p{Cf}]/gu, ' ');

const nameIn = (party: string): string => UNNAMED[party] ?? nameOfAddress(party);

/** An image to save, always in the light theme: `title` is above the lanes, `facts` below it. */
const drawFlow = (
  title: string,
  facts: string,
  wallet: string,
  lanes: readonly Lane[],
): HTMLCanvasElement => {
  const canvas = document.createElement('canvas');
  const height = HEAD + ROW * lanes.length + 24;
  canvas.width = WIDTH * 2;
  canvas.height = height * 2;
  const pen = canvas.getContext('2d');
  if (pen === null) return canvas;
  pen.scale(2, 2);
  pen.fillStyle = '#ffffff';
  pen.fillRect(0, 0, WIDTH, height);
  const write = (
    text: string,
    x: number,
    y: number,
    colour: string,
    font = '15px',
    most = WIDTH - x - 24,
  ) => {
    pen.fillStyle = colour;
    pen.font = `${font} system-ui, sans-serif`;
    pen.fillText(plain(text), x, y, most);
  };
  write(title, 24, 36, INK.text, 'bold 20px');
  write(facts, 24, 62, INK.quiet);
  for (const [index, { party, tone, points, text, worth }] of lanes.entries()) {
    const y = HEAD + ROW * index + 26;
    pen.fillStyle = INK.line;
    pen.fillRect(24, y - 26, WIDTH - 48, 1);
    write(nameIn(wallet), 24, y, INK.text, '15px', 200);
    write(points === 'in' ? '←' : '→', 240, y, INK[tone], 'bold 18px', 30);
    write(text, 280, y, INK[tone], 'bold 15px', 260);
    if (worth !== null) write(formatUsdBriefly(worth), 550, y, INK.quiet, '15px', 100);
    write(nameIn(party), 660, y, INK.text, '15px', 216);
  }
  return canvas;
};
