import { useState } from 'preact/hooks';
import type { TransactionPartsFragment } from '../../__generated__/operations.ts';
import { Bytes } from '../../components/bytes.ts';
import { Address } from '../../components/copyable.ts';
import { shorten } from '../../format/text.ts';
import { html } from '../../html.ts';
import { DecodedInputs } from './decoded-inputs.ts';
import { decodedText } from './decoded-text.ts';

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
export const Logs = ({ logs }: { logs: readonly Log[] }) => {
  const [count, setCount] = useState(STEP);
  return html`<ol class="rows logs">${logs.slice(0, count).map((log, index) => html`<${LogItem} key=${index} log=${log} />`)}</ol>
    ${logs.length > count && html`<button type="button" onClick=${() => setCount(count + STEP)}>Show more of ${logs.length} logs</button>`}`;
};
