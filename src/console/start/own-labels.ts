import { useRef, useState } from 'preact/hooks';
import { Avatar } from '../avatar.ts';
import { Address, Empty, html } from '../components.ts';
import { formatCount } from '../format.ts';
import { exportLabels, importLabels, setLabel, useLabels } from '../labels.ts';

const SHOWN = 50;
/** A larger file can't hold only labels. */
const MOST_BYTES = 1_000_000;

const download = (text: string): void => {
  const link = document.createElement('a');
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  link.href = url;
  link.download = 'labels.json';
  link.click();
  URL.revokeObjectURL(url);
};

type Result = ReturnType<typeof importLabels>;

const read = async (file: File): Promise<Result> =>
  file.size > MOST_BYTES
    ? { error: `Expected a file of at most 1 MB, got ${formatCount(Math.ceil(file.size / 1e6))} MB.` }
    : importLabels(await file.text());

/** The person's own names for addresses: kept in the browser, exported to a file and imported from one. */
export const OwnLabels = () => {
  const labels = useLabels();
  const file = useRef<HTMLInputElement>(null);
  const [result, setResult] = useState<Result | null>(null);
  const onFile = async () => {
    const [chosen] = file.current?.files ?? [];
    if (!chosen) return;
    setResult(await read(chosen));
    if (file.current) file.current.value = '';
  };
  const named = [...labels].toSorted(([, one], [, other]) => one.localeCompare(other));
  return html`<section class="panel stack" aria-labelledby="own-labels">
    <div class="bar">
      <h2 id="own-labels">Own labels</h2>
      <span class="push bar">
        <button type="button" disabled=${labels.size === 0} onClick=${() => download(exportLabels())}>Export</button>
        <button type="button" onClick=${() => file.current?.click()}>Import…</button>
        <input ref=${file} type="file" accept=".json,application/json" hidden aria-label="File of labels" onChange=${onFile} />
      </span>
    </div>
    <p class="result" role="status">${result && ('error' in result ? html`<span class="bad">${result.error}</span>` : result.done)}</p>
    ${
      labels.size === 0
        ? html`<${Empty} title="No address has a label of yours">Open a wallet and name it there. Names stay in this browser.<//>`
        : html`<ul class="own-labels">
            ${named.slice(0, SHOWN).map(
              ([address, name]) => html`<li key=${address}>
                <${Avatar} address=${address} size=${24} />
                <${Address} value=${address} />
                <button type="button" class="plain" aria-label=${`Remove the label ${name}`} title="Remove the label" onClick=${() => setLabel(address, '')}>✕</button>
              </li>`,
            )}
          </ul>
          ${named.length > SHOWN && html`<p class="quiet">and ${formatCount(named.length - SHOWN)} more, which the search finds</p>`}`
    }
  </section>`;
};
