import { useCallback } from 'preact/hooks';
import { type ApprovalRowFragment, WalletApprovals } from '../__generated__/operations.ts';
import { amountOf } from '../activity/activity-words.ts';
import { send } from '../api/client.ts';
import type { PagedState } from '../api/use-connection.ts';
import { Address, html, useNow } from '../components.ts';
import { inWords, shorten, shortHex } from '../format.ts';
import { TokenLogo } from '../picture.ts';
import { createMemory } from '../route.ts';
import { ListBody, ListHead } from './list.ts';
import { type LoadWalletPage, useWalletList } from './use-wallet-list.ts';

const PAGE_SIZE = 50;

type Props = { address: string; chainIds: readonly number[] };

const memory = createMemory<PagedState<ApprovalRowFragment>>();

/** Who may move what of the wallet now. */
export const Approvals = ({ address, chainIds }: Props) => {
  const load = useCallback<LoadWalletPage<ApprovalRowFragment>>(
    async (first, after, signal) => {
      const { data, problems } = await send(WalletApprovals, { address, first, after, chainIds }, signal);
      return { connection: data?.wallet.approvals ?? null, problems };
    },
    [address, chainIds],
  );
  const approvals = useWalletList(PAGE_SIZE, load, { memory, name: `approvals ${address} ${chainIds}` });
  const { list } = approvals;
  const now = useNow();
  return html`<div class="stack">
    <${ListHead} list=${approvals} now=${now} />
    <${ListBody} list=${list} what="approvals" kind="row" empty="Nobody may move anything of this wallet on these chains">
      <ul class="rows">${list.items.map(({ node }) => html`<${ApprovalRow} key=${node.id} approval=${node} />`)}</ul>
    <//>
  </div>`;
};

/** What may be moved, in words: `up to 60 USDC`, `Art #1`. */
const scopeOf = ({ amount, isUnlimited, tokenId, token }: ApprovalRowFragment): string => {
  const name = shorten(token.symbol ?? token.name ?? shortHex(token.address ?? ''), 24);
  if (tokenId !== null) return `${name} #${shorten(tokenId, 16)}`;
  if (amount === null) return `all ${name}, now and later`;
  return isUnlimited ? `any amount of ${name}` : `up to ${amountOf(amount, token).shown} ${name}`;
};

const ApprovalRow = ({ approval }: { approval: ApprovalRowFragment }) => {
  const { chain, token, spender, spenderName, isUnlimited, isForAll } = approval;
  const drawn = { id: token.id, logo: token.logo, symbol: token.symbol ?? '' };
  return html`<li class="transaction">
    <div class="bar">
      <${TokenLogo} token=${drawn} size=${18} />
      <strong>${scopeOf(approval)}</strong>
      <span class="party"><span class="quiet">by</span> ${spenderName && `${shorten(spenderName, 40)} `}<${Address} value=${spender} /></span>
      ${(isUnlimited || isForAll) && html`<span class="tag is-bad">no limit</span>`}
      <span class="tag push">${inWords(shorten(chain ?? '', 40))}</span>
    </div>
  </li>`;
};
