import { useCallback } from 'preact/hooks';
import {
  TransactionDetails as Operation,
  type TransactionPartsFragment,
  type TransactionRowFragment,
} from '../../__generated__/operations.ts';
import { send } from '../../api/client.ts';
import type { Item } from '../../api/use-connection.ts';
import { Bytes } from '../../components/bytes.ts';
import { Address, Hash } from '../../components/copyable.ts';
import { Facts } from '../../components/facts.ts';
import { formatTime } from '../../format/time.ts';
import { formatCount, formatUnits } from '../../format/units.ts';
import { html } from '../../html.ts';
import { DetailsState } from '../list/details-state.ts';
import { useDetails } from '../list/use-details.ts';
import { DecodedInputs } from './decoded-inputs.ts';
import { Logs } from './logs.ts';

const GWEI_DECIMALS = 9;

const gwei = (price: string | null) => price !== null && `${formatUnits(price, GWEI_DECIMALS)} gwei`;
const count = (number: string | null) => number !== null && formatUnits(number, 0);

type Props = {
  item: Item<TransactionRowFragment>;
  address: string;
  chainIds: readonly number[];
  onReload: () => void;
};

const Loaded = ({
  row,
  transaction,
}: {
  row: TransactionRowFragment;
  transaction: TransactionPartsFragment;
}) => {
  const { index, nonce, transactionType, gasPrice, gasUsed, effectiveGasPrice, blockHash, data, logs } =
    transaction;
  return html`<${Facts}
      facts=${[
        [
          'Block',
          html`${count(row.blockNumber)}${blockHash && html` <${Hash} value=${blockHash} label="block hash" />`}`,
        ],
        ['Time', formatTime(row.blockTime)],
        ['From', html`<${Address} value=${row.from} />`],
        ['To', row.to === null ? 'a new contract' : html`<${Address} value=${row.to} />`],
        ['Position in the block', count(index)],
        ['Nonce', count(nonce)],
        ['Type', count(transactionType)],
        ['Gas price', gwei(gasPrice)],
        ['Gas used', count(gasUsed)],
        ['Gas price paid', gwei(effectiveGasPrice)],
      ]} />
    ${row.decoded && html`<h3>Call</h3><${DecodedInputs} decoded=${row.decoded} />`}
    ${data !== null && html`<h3>Call data</h3><${Bytes} value=${data} label="call data" />`}
    <h3>Logs: ${logs.length === 0 ? 'none' : formatCount(logs.length)}</h3>
    ${logs.length > 0 && html`<${Logs} logs=${logs} />`}`;
};

/** What a row leaves out. It is asked for when it is opened. */
export const TransactionDetails = ({ item, address, chainIds, onReload }: Props) => {
  const { node: row, before } = item;
  const load = useCallback(
    async (signal: AbortSignal) => {
      const { data, problems } = await send(Operation, { address, after: before, chainIds }, signal);
      return { node: data?.wallet.transactions?.nodes[0] ?? null, problems };
    },
    [address, before, chainIds],
  );
  const [details, retry] = useDetails(row.id, load);
  return html`<div class="details stack">
    ${
      details.state === 'loaded'
        ? html`<${Loaded} row=${row} transaction=${details.node} />`
        : html`<${DetailsState} details=${details} onRetry=${retry} onReload=${onReload} />`
    }
  </div>`;
};
