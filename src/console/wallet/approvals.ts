import { useEffect, useMemo, useState } from 'preact/hooks';
import { WalletApprovals, WalletBalances } from '../__generated__/operations.ts';
import { ACTIVITY, UNITS_OF_A_REQUEST } from '../activity/activity.ts';
import { type ActivityItem, amountOf, symbolOf } from '../activity/activity-model.ts';
import { useOperation } from '../api/use-answer.ts';
import { isSupported, OnChain, useChainNames, useChains } from '../chains.ts';
import {
  Address,
  Bytes,
  Empty,
  Facts,
  html,
  LoadMore,
  PricesOfNow,
  ProblemNotice,
  Time,
  useNow,
} from '../components.ts';
import { PriceTag } from '../cost/prices.ts';
import { counted, formatCount, formatUsd, isZero, type NameOfChain, shorten } from '../format.ts';
import { labelOf } from '../labels.ts';
import { TokenLogo } from '../picture.ts';
import { useParam } from '../route.ts';
import {
  type Balances,
  bySpender,
  hasNoLimit,
  keyOf,
  type OfSpender,
  type Open,
  openIn,
  revocationOf,
  riskOf,
  timesOf,
  totalOf,
} from './approval-model.ts';
import { FindField, ListBody, ListHead, type PanelProps, useWalletList, walletList } from './list.ts';

const APPROVALS = walletList(100, WalletApprovals, ({ wallet }) => wallet.approvals);

/** Who may move what of the wallet now: the service's list, or what its activities tell. */
export const Approvals = (props: PanelProps) =>
  isSupported(useChains(), 'APPROVALS')
    ? html`<${Listed} ...${props} />`
    : html`<${FromActivity} ...${props} />`;

const Listed = (props: PanelProps) => {
  const approvals = useWalletList(APPROVALS, props);
  const [isTimed, setTimed] = useState(false);
  const [items, setItems] = useState<readonly ActivityItem[]>([]);
  return html`<div class="stack">
    <${ListHead} list=${approvals}>${!isTimed && html`<button type="button" onClick=${() => setTimed(true)}>Find when they were given and used <${PriceTag} of=${['activity']} /></button>`}<//>
    <${ListBody} list=${approvals} what="approvals" kind="row" empty="Nobody may move anything of this wallet">
      <${Spenders} ...${props} open=${approvals.nodes} items=${items} />
      ${isTimed && html`<${Times} ...${props} onRead=${setItems} />`}
    <//>
  </div>`;
};

type TimesProps = PanelProps & { onRead: (items: readonly ActivityItem[]) => void };

/** Reads what the wallet's newest activities tell of them. */
const Times = ({ address, chainIds, onRead }: TimesProps) => {
  const activity = useWalletList(ACTIVITY, { address, chainIds });
  useEffect(() => onRead(activity.nodes), [activity.nodes]);
  return html`<${LoadMore} list=${activity} what="activities" price=${UNITS_OF_A_REQUEST} isPaused />`;
};

const FromActivity = (props: PanelProps) => {
  const activity = useWalletList(ACTIVITY, props);
  const { nodes } = activity;
  const open = useMemo(() => openIn(nodes), [nodes]);
  return html`<div class="stack">
    <${ListHead} list=${activity} />
    <${ListBody} list=${activity} what="activities" kind="row" empty="No activity" price=${UNITS_OF_A_REQUEST} isPaused>
      <p class="notes">This service does not list approvals. Shown are those that the newest ${counted(nodes.length, 'activity', 'activities')} left open: older ones are missing, and some of a limited one may have been used since.</p>
      ${open.length === 0 ? html`<${Empty} title="None of these activities left an approval open" />` : html`<${Spenders} ...${props} open=${open} items=${nodes} />`}
    <//>
  </div>`;
};

const NO_BALANCES: Balances = new Map();

type SpendersProps = PanelProps & { open: readonly Open[]; items: readonly ActivityItem[] };

/** Those that the search finds, by who may move something. */
const Spenders = ({ address, chainIds, open: all, items }: SpendersProps) => {
  const { data, problems, retry } = useOperation(WalletBalances, { address, chainIds, first: 1000 });
  const balances = useMemo(() => {
    const nodes = data?.wallet.balances?.nodes.flatMap((node) => node ?? []);
    return nodes ? new Map(nodes.map((node) => [keyOf(node.chainId, node.token.address), node])) : null;
  }, [data]);
  const nameOf = useChainNames();
  const [find] = useParam('find');
  const sought = find.trim().toLowerCase();
  const open = useMemo(
    () => all.filter((each) => textsOf(each, nameOf).some((said) => said?.toLowerCase().includes(sought))),
    [all, sought, nameOf],
  );
  const spenders = useMemo(() => bySpender(open, balances ?? NO_BALANCES), [open, balances]);
  const risks = open.flatMap((each) => (balances && riskOf(each, balances)) ?? []);
  // Without a single price, nothing is known to be worth nothing.
  const total = balances && risks.some(({ usd }) => usd !== null) ? totalOf(open, balances) : null;
  return html`
    <${FindField} placeholder="spender, token, chain, or no limit" />
    <p role="status">${total !== null && html`<strong title="Of several allowances for one token the largest counts">${formatUsd(total)} at risk</strong>, by `}${counted(spenders.length, 'spender', 'spenders')} with ${sought === '' ? '' : `${formatCount(open.length)} of `}${counted(all.length, 'open allowance', 'open allowances')}.</p>
    <${PricesOfNow} chainIds=${open.map(({ chainId }) => chainId)} />
    ${problems[0] && html`<${ProblemNotice} problem=${problems[0]} onRetry=${retry} />`}
    ${items.length > 0 && html`<p class="quiet">When each was given and last used is known as far back as the newest ${formatCount(items.length)} activities go.</p>`}
    ${spenders.map((each) => html`<${Spender} key=${each.spender} ...${each} balances=${balances} items=${items} />`)}`;
};

type SpenderProps = OfSpender & { balances: Balances | null; items: readonly ActivityItem[] };

const Spender = ({ spender, name, open, usd, balances, items }: SpenderProps) =>
  html`<section class="stack">
    <${OnChain} chainId=${open[0]?.chainId ?? null}><h3 class="bar">${name !== null && html`<bdi>${shorten(name, 40)}</bdi>`}<${Address} value=${spender} />${!isZero(usd.replace('.', '')) && html`<span class="push">${formatUsd(usd)}</span>`}</h3><//>
    <ul class="rows">${open.map((each) => html`<${OpenRow} key=${each.id} open=${each} balances=${balances} items=${items} />`)}</ul>
  </section>`;

/** What an allowance is found by. */
const textsOf = (open: Open, nameOf: NameOfChain): readonly (string | null)[] => {
  const { spender, spenderName, token, chainId } = open;
  const limit = hasNoLimit(open) ? 'no limit' : null;
  const names = [spender, spenderName, labelOf(spender), symbolOf(token, chainId), token.name, token.address];
  return [...names, nameOf(chainId), limit];
};

/** What may be moved, as a sentence, and what of it is there. */
const sentenceOf = (open: Open, balances: Balances | null): string => {
  const { amount, isUnlimited, tokenId, token, chainId } = open;
  const name = shorten(symbolOf(token, chainId), 24);
  if (tokenId !== null) return `May take ${name} #${shorten(tokenId, 16)}, and nothing else.`;
  if (amount === null) return `May take every ${name} of this wallet, now and later.`;
  const may = isUnlimited
    ? `any amount of ${name}, now and later`
    : `up to ${amountOf(amount, token, chainId).shown} ${name}`;
  const risk = balances && riskOf(open, balances);
  if (!risk) return `May take ${may}.`;
  if (isZero(risk.amount)) return `May take ${may}. This wallet holds none now.`;
  const worth = risk.usd === null ? 'whose price is not known' : `worth ${formatUsd(risk.usd)}`;
  return `May take ${may}. It could take ${amountOf(risk.amount, token, chainId).shown} ${name} now, ${worth}.`;
};

type RowProps = { open: Open; balances: Balances | null; items: readonly ActivityItem[] };

const OpenRow = ({ open, balances, items }: RowProps) => {
  const { chainId, token } = open;
  const now = useNow();
  const nameOf = useChainNames();
  const { given, used } = timesOf(open, items);
  const { to, data, reads } = revocationOf(open);
  const when = (time: string | null, word: string) =>
    time !== null && html` <span class="quiet">${word} <${Time} value=${time} now=${now} /></span>`;
  return html`<${OnChain} chainId=${chainId}><li class="stack transaction" data-approval=${open.id}>
    <div class="bar">
      <${TokenLogo} token=${token} size=${18} />
      <span>${sentenceOf(open, balances)}</span>
      ${hasNoLimit(open) && html`<span class="tag bad">no limit</span>`}
      ${when(given, 'given')}${when(used, 'last used')}
      <span class="tag push">${nameOf(chainId)}</span>
    </div>
    <details><summary>The call that ends it</summary>
      <p>Send this from the wallet, without value: <code>${reads}</code></p>
      <${Facts} facts=${[
        ['To', html`<${Address} value=${to} page="token" />`],
        ['Data', html`<${Bytes} value=${data} label="data of the call" />`],
      ]} />
    </details>
  </li><//>`;
};
