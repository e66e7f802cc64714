import { type ApprovalRowFragment, WalletApprovals } from '../__generated__/operations.ts';
import { amountOf } from '../activity/activity-words.ts';
import { send } from '../api/client.ts';
import { Address, html } from '../components.ts';
import { inWords, shorten, shortHex } from '../format.ts';
import { TokenLogo } from '../picture.ts';
import { ListBody, ListHead } from './list.ts';
import { type PanelProps, useWalletList, walletList } from './use-wallet-list.ts';

const APPROVALS = walletList({
  pageSize: 50,
  read: (asked: PanelProps, range, signal) => send(WalletApprovals, { ...asked, ...range }, signal),
  pageIn: ({ wallet }) => wallet.approvals,
});

/** Who may move what of the wallet now. */
export const Approvals = ({ address, chainIds }: PanelProps) => {
  const approvals = useWalletList(APPROVALS, { address, chainIds });
  return html`<div class="stack">
    <${ListHead} list=${approvals} />
    <${ListBody} list=${approvals} what="approvals" kind="row" empty="Nobody may move anything of this wallet on these chains">
      <ul class="rows">${approvals.nodes.map((node) => html`<${ApprovalRow} key=${node.id} approval=${node} />`)}</ul>
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
