import { useRef, useState } from 'preact/hooks';
import { Dialog, html } from './components.ts';
import { shortHex } from './format.ts';
import { MOST_CHARACTERS, setLabel, useLabels } from './labels.ts';

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
        <span class="hint" id="own-label-hint">It stands for the address everywhere in this browser, and is never sent. Start exports all labels.</span>
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

/** A button that gives an address a name of the person's own. */
export const EditLabel = ({ address }: { address: string }) => {
  const [isOpen, setOpen] = useState(false);
  const label = useLabels().get(address.toLowerCase()) ?? '';
  return html`<button type="button" class="plain edit-label" onClick=${() => setOpen(true)}>${label === '' ? 'Add a label' : 'Edit label'}</button>
    ${isOpen && html`<${LabelDialog} address=${address} label=${label} onClose=${() => setOpen(false)} />`}`;
};
