import { useRef, useState } from 'preact/hooks';
import { Avatar } from '../avatar.ts';
import { Address, Dialog, Empty, html } from '../components.ts';
import { download } from '../download.ts';
import { formatCount, shortHex } from '../format.ts';
import { exportLabels, importLabels, MOST_CHARACTERS, setLabel, useLabels } from '../labels.ts';

const SHOWN = 50;
const MOST_BYTES = 1_000_000;

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
        <button type="button" disabled=${labels.size === 0} onClick=${() => download('labels.json', new Blob([exportLabels()], { type: 'application/json' }))}>Export</button>
        <button type="button" onClick=${() => file.current?.click()}>Import…</button>
        <input ref=${file} type="file" accept=".json,application/json" hidden aria-label="File of labels" onChange=${onFile} />
      </span>
    </div>
    <p role="status">${result && ('error' in result ? html`<span class="bad">${result.error}</span>` : result.done)}</p>
    ${
      labels.size === 0
        ? html`<${Empty} title="You have named no address yet">Open a wallet and name it there. Names stay in this browser.<//>`
        : html`<ul class="grid">
            ${named.slice(0, SHOWN).map(
              ([address, name]) => html`<li key=${address} class="line">
                <${Avatar} address=${address} size=${24} />
                <${Address} value=${address} />
                <button type="button" class="plain" aria-label=${`Remove the label ${name}`} title="Remove the label" onClick=${() => setLabel(address, '')}>✕</button>
              </li>`,
            )}
          </ul>
          ${named.length > SHOWN && html`<p class="quiet">and ${formatCount(named.length - SHOWN)} more: search for them above</p>`}`
    }
  </section>`;
};

type DialogProps = { address: string; label: string; onClose: () => void };

const LabelDialog = ({ address, label, onClose }: DialogProps) => {
  const input = useRef<HTMLInputElement>(null);
  const [error, setError] = useState('');
  const save = (name: string) => {
    const failure = setLabel(address, name);
    if (failure === null) onClose();
    else setError(failure);
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    save(input.current?.value ?? '');
  };
  return html`<${Dialog} title=${`Own label of ${shortHex(address)}`} onClose=${onClose}>
    <form class="stack" onSubmit=${onSubmit}>
      <div class="field">
        <label for="own-label">Label</label>
        <input ref=${input} id="own-label" maxlength=${MOST_CHARACTERS} autocomplete="off" value=${label} aria-invalid=${error !== ''} aria-describedby="own-label-hint own-label-error" />
        <span class="hint" id="own-label-hint">This browser shows it in place of the address, and never sends it. You can export all labels from Start.</span>
        <span class="error" id="own-label-error" role="alert">${error}</span>
      </div>
      <div class="bar">
        <button type="submit" class="primary">Save</button>
        ${label !== '' && html`<button type="button" onClick=${() => save('')}>Remove the label</button>`}
        <button type="button" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  <//>`;
};

export const EditLabel = ({ address }: { address: string }) => {
  const [isOpen, setOpen] = useState(false);
  const label = useLabels().get(address.toLowerCase()) ?? '';
  return html`<button type="button" class="plain" onClick=${() => setOpen(true)}>${label === '' ? 'Add a label' : 'Edit label'}</button>
    ${isOpen && html`<${LabelDialog} address=${address} label=${label} onClose=${() => setOpen(false)} />`}`;
};
