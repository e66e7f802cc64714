import type { ComponentChildren } from 'preact';
import { useCallback, useState } from 'preact/hooks';
import {
  TransactionDetails as Operation,
  type TransactionPartsFragment,
  type TransactionRowFragment,
} from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import type { Item } from '../api/use-connection.ts';
import { Address, Bytes, Facts, Hash, html, Time } from '../components.ts';
import { formatCount, formatUnits, inWords, shorten, shortHex } from '../format.ts';
import { labelOf } from '../labels.ts';
import { isAddress } from '../route.ts';
import { DetailsState } from './list.ts';
import { useDetails } from './use-wallet-list.ts';

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
        ['Time', html`<${Time} value=${row.blockTime} />`],
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

/** What a row leaves out. It is requested when the row is opened. */
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

type Log = TransactionPartsFragment['logs'][number];

/** A transaction may have thousands of logs. */
const STEP = 20;

const Raw = ({ log }: { log: Log }) =>
  html`<div class="stack">
    ${log.topics.length > 0 && html`<ol class="topics">${log.topics.map((topic, index) => html`<li key=${index}><span class="quiet">topic ${index}</span> <code>${shorten(topic, 80)}</code></li>`)}</ol>`}
    ${log.data !== null && html`<${Bytes} value=${log.data} label="log data" />`}
  </div>`;

const LogItem = ({ log }: { log: Log }) =>
  html`<li>
    <p><${Address} value=${log.address} /> ${log.decoded ? decodedText(log.decoded) : html`<span class="quiet">emits an event that is not decoded</span>`}</p>
    <details>
      <summary>${log.decoded ? 'Parameters, topics and data' : 'Topics and data'}</summary>
      <div class="stack">
        ${log.decoded && html`<${DecodedInputs} decoded=${log.decoded} />`}
        <${Raw} log=${log} />
      </div>
    </details>
  </li>`;

/** The events that a transaction emitted, in their order. */
const Logs = ({ logs }: { logs: readonly Log[] }) => {
  const [count, setCount] = useState(STEP);
  return html`<ol class="rows logs">${logs.slice(0, count).map((log, index) => html`<${LogItem} key=${index} log=${log} />`)}</ol>
    ${logs.length > count && html`<button type="button" onClick=${() => setCount(count + STEP)}>Show more of ${logs.length} logs</button>`}`;
};

const MOST_INPUTS = 50;
const MOST_CHARACTERS = 2000;

const shown = (type: string | null, value: unknown): ComponentChildren => {
  if (value === null || value === undefined) return html`<span class="quiet">not decoded</span>`;
  if (typeof value !== 'string')
    return html`<code class="value">${shorten(JSON.stringify(value, null, 1), MOST_CHARACTERS)}</code>`;
  if (type === 'address' && isAddress(value)) return html`<${Address} value=${value} />`;
  return value === ''
    ? html`<span class="quiet">empty</span>`
    : html`<code class="value">${shorten(value, MOST_CHARACTERS)}</code>`;
};

/** The parameters of a call or of an event, each with its type. */
const DecodedInputs = ({ decoded }: { decoded: Decoded }) => {
  const { name, inputs } = decoded;
  const others = inputs.length - MOST_INPUTS;
  return html`<div class="stack">
    <p>${inWords(shorten(name ?? 'unnamed', 200))}${inputs.length === 0 && ', without parameters'}</p>
    <${Facts} facts=${inputs
      .slice(0, MOST_INPUTS)
      .map((input, index) => [
        html`${shorten(input.name || `parameter ${index + 1}`, 60)} <code>${shorten(input.type ?? '', 60)}</code>`,
        shown(input.type, input.value),
      ])} />
    ${others > 0 && html`<p class="quiet">and ${others} more parameters</p>`}
  </div>`;
};

/** A decoded call, or a decoded event of a log. */
type Decoded = NonNullable<TransactionRowFragment['decoded']>;
type Input = Decoded['inputs'][number];

const MAX_LEVELS = 3;
const MAX_ITEMS = 3;
const MOST_UINT256 = (2n ** 256n - 1n).toString();

const stringText = (value: string): string => {
  if (/^0x[\da-f]*$/i.test(value)) return labelOf(value) ?? shortHex(value);
  if (value === MOST_UINT256) return '2^256 − 1';
  if (/^-?\d+$/.test(value)) return shorten(formatUnits(shorten(value, 100), 0), 30);
  return JSON.stringify(shorten(value, 40));
};

/** A decoded value in a few words. It may be a text of any length, or lists and objects in each other. */
const valueText = (value: unknown, level = 0): string => {
  if (value === null || value === undefined) return 'not decoded';
  if (typeof value === 'string') return stringText(value);
  if (typeof value !== 'object') return String(value);
  if (level >= MAX_LEVELS) return '…';
  const parts = Array.isArray(value)
    ? value.slice(0, MAX_ITEMS).map((item) => valueText(item, level + 1))
    : Object.entries(value)
        .slice(0, MAX_ITEMS)
        .map(([name, item]) => `${shorten(name, 20)} ${valueText(item, level + 1)}`);
  const more = (Array.isArray(value) ? value : Object.keys(value)).length > MAX_ITEMS ? ', …' : '';
  return Array.isArray(value) ? `[${parts.join(', ')}${more}]` : `{${parts.join(', ')}${more}}`;
};

const inputText = ({ name, value }: Input): string =>
  `${name ? inWords(shorten(name, 24)).trim() : ''} ${shorten(valueText(value), 80)}`.trim();

/** A call or an event in words: `transfer to 0x12…ab, value 1,000`. */
const decodedText = ({ name, inputs }: Decoded): string => {
  const words = inputs.slice(0, MAX_ITEMS).map(inputText).join(', ');
  const more = inputs.length > MAX_ITEMS ? ', …' : '';
  return `${inWords(shorten(name ?? 'unnamed', 60))} ${words}${more}`.trim();
};

const isZero = (amount: string): boolean => /^0*$/.test(amount);

/** What a transaction does, in words. */
export const transactionText = ({ decoded, to, value }: TransactionRowFragment): string => {
  if (decoded) return decodedText(decoded);
  if (to === null) return 'creates a contract';
  return value !== null && !isZero(value) ? 'sends value' : `calls ${shortHex(to)}`;
};
