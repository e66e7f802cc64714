import { useEffect, useRef, useState } from 'preact/hooks';
import { TransactionByHash } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { useChains } from '../chains.ts';
import { html } from '../components.ts';
import { counted, formatCount, inWords, shorten } from '../format.ts';
import { hrefOf, replacePart, useParam } from '../route.ts';

/** Where a transaction can be whose chain is not known. */

type Chain = ReturnType<typeof useChains>[number];

const isFinding = ({ supports }: Chain): boolean => supports?.includes('TRANSACTION') === true;

/** The chains on which a transaction is found by its hash, or else all of them, the main ones first. */
export const mostLikely = (chains: readonly Chain[]): readonly Chain[] => {
  const isMain = ({ tags }: Chain): boolean => tags.includes('default');
  const finding = chains.filter(isFinding);
  return (finding.length > 0 ? finding : chains).toSorted(
    (one, other) => Number(isMain(other)) - Number(isMain(one)),
  );
};

type Looking = { readonly isLooking: boolean; readonly without: number; readonly failed: readonly string[] };

const NOT_YET: Looking = { isLooking: false, without: 0, failed: [] };

const nameIn = ({ name }: Chain): string => inWords(shorten(name, 40));

type Props = {
  hash: string;
  /** The chain that is known not to have it; null where none is. */
  but: number | null;
};

/** The chains that may have a transaction, each as a link; and a search on all of them, where the service finds it by its hash. */
export const OtherChains = ({ hash, but }: Props) => {
  const chains = mostLikely(useChains()).filter(({ chainId }) => chainId !== but);
  const [wallet] = useParam('wallet');
  const [looking, setLooking] = useState(NOT_YET);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const look = async (): Promise<void> => {
    running.current = new AbortController();
    const { signal } = running.current;
    let seen = { ...NOT_YET, isLooking: true };
    setLooking(seen);
    for (const chain of chains) {
      const { chainId } = chain;
      const { data, problems } = await send(TransactionByHash, { chainId, hash }, signal);
      if (signal.aborted) return;
      if (data?.transaction) return replacePart(but === null ? hash : `${but}/${hash}`, `${chainId}/${hash}`);
      seen =
        problems.length > 0
          ? { ...seen, failed: [...seen.failed, nameIn(chain)] }
          : { ...seen, without: seen.without + 1 };
      setLooking(seen);
    }
    setLooking({ ...seen, isLooking: false });
  };
  if (chains.length === 0) return null;
  const { isLooking, without, failed } = looking;
  const all = counted(chains.length, 'chain', 'chains');
  return html`<section class="stack" aria-label="Chains to look on">
    ${chains.length > 1 && chains.some(isFinding) && html`<p><button type="button" disabled=${isLooking} onClick=${() => void look().catch(() => {})}>Look on ${but === null ? '' : 'the other '}${all} in turn: ${formatCount(chains.length)} CU at most</button></p>`}
    <p role="status">${without + failed.length > 0 && `${counted(without, 'chain has', 'chains have')} no transaction with this hash.${failed.length > 0 ? ` Not answered: ${failed.join(', ')}.` : ''}`}</p>
    <p>${but === null ? 'Chains that it may be on:' : 'Other chains:'}</p>
    <ul class="bar">${chains.map((chain) => html`<li key=${chain.chainId}><a href=${hrefOf('tx', [`${chain.chainId}/${hash}`], wallet ? { wallet } : {})}>${nameIn(chain)}</a></li>`)}</ul>
  </section>`;
};
