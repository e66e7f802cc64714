import { formatAmount, isUnlimited } from 'evm-graphql-gateway/client';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type {
  TransactionByHashQuery,
  TransactionRowFragment,
  WholeTransactionFragment,
} from '../__generated__/operations.ts';
import type { Token } from '../activity/activity-model.ts';
import { feeOf } from '../activity/known.ts';
import { Address, Bytes, Facts, Hash, html, LongText, Time } from '../components.ts';
import { formatCount, inWords, isZero, nativeDecimals, nativeSymbol, shorten, shortHex } from '../format.ts';
import { nameOfAddress } from '../labels.ts';
import { isAddress } from '../route.ts';

const GWEI_DECIMALS = 9;

const gwei = (price: string | null) => price !== null && `${formatAmount(price, GWEI_DECIMALS)} gwei`;
const count = (number: string | null) => number !== null && formatAmount(number, 0);

/** Only a transaction that was found by its hash says why it failed. */
export type Whole = WholeTransactionFragment &
  Partial<Pick<NonNullable<TransactionByHashQuery['transaction']>, 'revertReason'>>;

/** Whether the transaction succeeded. Lookups mostly omit it. */
const Outcome = ({ transaction }: { transaction: Whole }) => {
  const { success, logs, data, revertReason } = transaction;
  if (success === false)
    return html`<div class="notice is-error"><strong>It failed${revertReason?.message && `: ${shorten(revertReason.message, MOST_CHARACTERS)}`}</strong>
      <p>It was reverted: nothing moved, and the sender paid for the gas.</p>
      ${revertReason?.data && revertReason.data !== '0x' && html`<${Bytes} value=${revertReason.data} label="data of the error" />`}
    </div>`;
  return (
    success === null &&
    data !== '0x' &&
    logs.length === 0 &&
    html`<p class="quiet">It left no event, and the service does not say whether it succeeded: a call that fails leaves none.</p>`
  );
};

/** An amount of the chain's own currency, with all digits. */
const inNative = (amount: string, chainId: number | null): string =>
  `${formatAmount(amount, nativeDecimals(chainId), nativeDecimals(chainId))} ${nativeSymbol(chainId)}`;

type BodyProps = {
  transaction: Whole;
  /** In whose units its events can be written. */
  tokens?: readonly Token[];
};

/** A transaction: what it called in words, its facts, its events, and the call data. */
export const TransactionBody = ({ transaction, tokens = [] }: BodyProps) => {
  const { index, nonce, transactionType, gasPrice, gasUsed, effectiveGasPrice, data, logs } = transaction;
  const { blockNumber, blockHash, blockTime, from, to, value, chainId, decoded, success, createdContract } =
    transaction;
  const paid = feeOf(transaction);
  return html`<${Outcome} transaction=${transaction} />
    <h3>Call</h3>
    <${CallText} decoded=${decoded} text=${data === '0x' && to !== null && isZero(value) ? 'sends nothing' : transactionText(transaction)} />
    <${Facts}
      facts=${[
        ['Result', success === null ? null : success ? 'succeeded' : 'failed'],
        ['From', html`<${Address} value=${from} />`],
        ['To', to === null ? 'a new contract' : html`<${Address} value=${to} />`],
        ['Value', inNative(value, chainId)],
        ['Fee', paid !== null && inNative(paid, chainId)],
        ['Created', createdContract !== null && html`<${Address} value=${createdContract} />`],
        ['Time', html`<${Time} value=${blockTime} />`],
        [
          'Block',
          html`${count(blockNumber)}${blockHash && html` <${Hash} value=${blockHash} label="block hash" />`}`,
        ],
        ['Position in the block', count(index)],
        ['Nonce', count(nonce)],
        ['Type', count(transactionType)],
        ['Gas price', gwei(gasPrice)],
        ['Gas used', count(gasUsed)],
        ['Gas price paid', gwei(effectiveGasPrice)],
      ]} />
    <h3>Events: ${logs.length === 0 ? 'none' : formatCount(logs.length)}</h3>
    ${logs.length > 0 && html`<${Logs} logs=${logs} tokens=${tokens} />`}
    <h3>Call data</h3><${Bytes} value=${data} label="call data" />`;
};

/** Parameters that are longer than this in JSON are shown on demand. */
const LONG = 600;

/** A call in a sentence, and its parameters. */
export const CallText = ({ decoded, text }: { decoded: Decoded | null; text: string }) =>
  html`<p>${text}</p>
    ${
      decoded &&
      decoded.inputs.length > 0 &&
      html`<details open=${JSON.stringify(decoded.inputs).length < LONG}>
        <summary>Parameters: ${decoded.inputs.length}</summary>
        <${DecodedInputs} decoded=${decoded} />
      </details>`
    }`;

export const RawJson = ({ value }: { value: unknown }) => {
  const [isOpen, setOpen] = useState(false);
  const text = isOpen ? JSON.stringify(value, null, 2) : '';
  return html`<details onToggle=${(event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open)}>
    <summary>Raw JSON</summary>
    <${LongText} text=${text} label="JSON" said=${`${formatCount(text.length)} characters`} />
  </details>`;
};

type Log = Whole['logs'][number];

/** A transaction may have thousands of logs. */
const STEP = 20;

const LogItem = ({ log, token }: { log: Log; token: Token | undefined }) =>
  html`<li>
    <p><${Address} value=${log.address} /> ${log.decoded ? eventText(log.decoded, token) : html`<span class="quiet">emits an event that is not decoded</span>`}</p>
    <details>
      <summary>${log.decoded ? 'Parameters, topics and data' : 'Topics and data'}</summary>
      <div class="stack">
        ${log.decoded && html`<${DecodedInputs} decoded=${log.decoded} />`}
        ${log.topics.length > 0 && html`<ol class="topics">${log.topics.map((topic, index) => html`<li key=${index}><span class="quiet">topic ${index}</span> <code>${shorten(topic, 80)}</code></li>`)}</ol>`}
        ${log.data !== null && html`<${Bytes} value=${log.data} label="log data" />`}
      </div>
    </details>
  </li>`;

const textAt = (inputs: Decoded['inputs'], index: number): string => {
  const value = inputs[index]?.value;
  return typeof value === 'string' ? value : '';
};

/** A transfer or an approval of a known token in whole tokens, any other event as its parameters say. */
const eventText = (decoded: Decoded, token: Token | undefined): string => {
  const { name, inputs } = decoded;
  const [from, to, value] = [0, 1, 2].map((index) => textAt(inputs, index));
  const isKnown = from && to && value && /^\d{1,78}$/.test(value) && typeof token?.decimals === 'number';
  if (!isKnown || inputs.length !== 3) return decodedText(decoded);
  const symbol = shorten(token.symbol ?? 'the token', 24);
  const amount = `${formatAmount(value, token.decimals ?? 0)} ${symbol}`;
  if (name === 'Transfer') return `${amount} from ${stringText(from)} to ${stringText(to)}`;
  if (name !== 'Approval' || isZero(value)) return decodedText(decoded);
  return `${stringText(from)} allows ${stringText(to)} to spend ${isUnlimited(value) ? `any amount of ${symbol}` : amount}`;
};

const Logs = ({ logs, tokens }: { logs: readonly Log[]; tokens: readonly Token[] }) => {
  const [count, setCount] = useState(STEP);
  return html`<ol class="rows logs">${logs.slice(0, count).map((log, index) => html`<${LogItem} key=${index} log=${log} token=${tokens.find(({ address }) => address === log.address)} />`)}</ol>
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

type Decoded = NonNullable<TransactionRowFragment['decoded']>;
type Input = Decoded['inputs'][number];

const MAX_LEVELS = 3;
const MAX_ITEMS = 3;
const MOST_UINT256 = (2n ** 256n - 1n).toString();

const stringText = (value: string): string => {
  if (/^0x[\da-f]*$/i.test(value)) return nameOfAddress(value);
  if (value === MOST_UINT256) return '2^256 − 1';
  if (/^-?\d+$/.test(value)) return shorten(formatAmount(shorten(value, 100), 0), 30);
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

const REVOCABLE = /^(?:set)?approv(?:e|al)(?:ForAll)?(?!\w)/i;

/** What a call or an event is called. An approval of nothing, which is its last parameter, is a revocation. */
export const nameOfCall = ({ name, inputs }: Decoded): string => {
  const last = inputs.at(-1)?.value;
  const isNothing = typeof last === 'string' ? /^(?:0+|false)$/.test(last) : last === false;
  return REVOCABLE.test(name ?? '') && isNothing ? 'revocation' : inWords(shorten(name ?? 'unnamed', 60));
};

/** A call or an event in words: `transfer to 0x12…ab, value 1,000`. */
export const decodedText = (decoded: Decoded): string => {
  const { inputs } = decoded;
  const words = inputs.slice(0, MAX_ITEMS).map(inputText).join(', ');
  const more = inputs.length > MAX_ITEMS ? ', …' : '';
  return `${nameOfCall(decoded)} ${words}${more}`.trim();
};

/** What a transaction does, or was to do, in words. */
export const transactionText = ({ decoded, to, value }: TransactionRowFragment): string => {
  if (decoded) return decodedText(decoded);
  if (to === null) return 'creates a contract';
  return !isZero(value) ? 'sends value' : `calls ${shortHex(to)}`;
};
