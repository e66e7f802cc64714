import { useEffect, useState } from 'preact/hooks';
import { ChainIndexes, type ChainIndexesQuery } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { Meter } from '../charts.ts';
import { Address, html, Time } from '../components.ts';
import { counted, formatCount, inWords, shorten } from '../format.ts';
import { hrefOf } from '../route.ts';

type Chain = ChainIndexesQuery['chains'][number];
type Index = NonNullable<Chain['index']>;

type Indexed = Chain & { readonly index: Index };

type Seen = { readonly chains: readonly Indexed[]; readonly at: number };

const isIndexed = (chain: Chain): chain is Indexed => chain.index !== null;

/** The chains of Anvil and Hardhat, and the first accounts of the phrase that both begin with. */
const DEVELOPMENT: readonly number[] = [31337, 1337];
const FUNDED = [
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
];

/** As often as the gateway asks the service. */
const EVERY_MS = 3000;

/** The chains whose service says how far its index is. It is asked again while the page is visible, if any is. */
const useIndexed = (): Seen => {
  const [{ chains, at }, setSeen] = useState<Seen>({ chains: [], at: 0 });
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const read = async (): Promise<void> => {
      const { data } = await send(ChainIndexes, {}, signal, at === 0);
      const found = data?.chains.filter(isIndexed) ?? [];
      // What is known stays while the service can't be asked.
      setSeen({ chains: found.length > 0 ? found : chains, at: Date.now() });
    };
    const poll = (): void => {
      if (document.visibilityState === 'visible') void read().catch(() => {});
    };
    if (at === 0) void read().catch(() => {});
    if (chains.length > 0) document.addEventListener('visibilitychange', poll, { signal });
    const timer = chains.length > 0 ? setTimeout(poll, EVERY_MS) : undefined;
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [at]);
  return { chains, at };
};

/** The chains that the service indexes from nodes: their heads, and how far it is. Hosted services say nothing of that. */
export const IndexedChains = () => {
  const { chains, at } = useIndexed();
  if (chains.length === 0) return null;
  return html`<section class="panel stack" aria-labelledby="indexed-chains">
    <h2 id="indexed-chains">${chains.length === 1 ? 'Your chain' : 'Your chains'}</h2>
    <ul class="grid" style="--column: 24rem">${chains.map((chain) => html`<${Row} key=${chain.chainId} chain=${chain} now=${at} />`)}</ul>
    ${chains.some(({ chainId }) => DEVELOPMENT.includes(chainId)) && html`<p class="bar">Accounts that Anvil and Hardhat fund: ${FUNDED.map((address) => html`<${Address} key=${address} value=${address} />`)}</p>`}
    <p class="quiet">Open an address above, and <em>Watch</em> it there: from then on its events arrive under <a href=${hrefOf('live')}>Live</a>.</p>
  </section>`;
};

const stateOf = ({ behind, problem }: Index): readonly [text: string, tone: string] => {
  if (problem !== null) return ['not followed', 'bad'];
  if (behind === null) return ['starting', ''];
  return behind === '0'
    ? ['up to date', 'good']
    : [`${counted(Number(behind), 'block', 'blocks')} to go`, 'warn'];
};

const Row = ({ chain, now }: { chain: Indexed; now: number }) => {
  const { chainId, name, index } = chain;
  const [text, tone] = stateOf(index);
  return html`<li class="stack tight">
    <p class="bar"><strong>${inWords(shorten(name, 40))}</strong>${name !== `chain_${chainId}` && html` <span class="quiet">chain ${chainId}</span>`} <span class=${`tag ${tone}`}>${text}</span></p>
    <p>${index.head === null ? html`<span class="quiet">No block is known yet</span>` : html`Block ${formatCount(Number(index.head))}`}${index.headTime !== null && html`<span class="quiet">, <${Time} value=${index.headTime} now=${now} /></span>`}</p>
    <${Progress} index=${index} />
    ${index.problem !== null && html`<p class="bad">${shorten(index.problem, 400)}</p>`}
  </li>`;
};

const Progress = ({ index: { from, to, behind } }: { index: Index }) => {
  if (from === null || to === null) return null;
  const has = Number(to) - Number(from) + 1;
  const all = has + Number(behind ?? 0);
  const range = `blocks ${formatCount(Number(from))} to ${formatCount(Number(to))}`;
  return html`<${Meter} label="Indexed" value=${has} most=${all} text=${range} />`;
};
