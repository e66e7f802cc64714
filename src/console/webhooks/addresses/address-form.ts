import { useMemo, useState } from 'preact/hooks';
import { UpdateWebhookAddresses } from '../../__generated__/operations.ts';
import { html } from '../../html.ts';
import { sendChange } from '../change.ts';
import { FaultNotice } from '../fault-notice.ts';
import { TextField } from '../form/form-fields.ts';
import { NO_FAULT, useChange } from '../use-change.ts';
import { countRemoved, type Removal } from './address-pages.ts';
import { countOf, parseAddresses, wrongAddresses } from './pasted-addresses.ts';
import { ReplaceDialog } from './replace-dialog.ts';

type Props = {
  webhookId: string;
  onAdded: (addresses: readonly string[]) => void;
  onReplaced: (addresses: readonly string[]) => void;
  onStale: () => void;
};

/** The names that a message may give the pasted list, in either mutation. */
const FIELDS = ['addAddresses', 'addresses'];

/** Takes addresses by paste, and adds them to the list or makes them the list. */
export const AddressForm = ({ webhookId, onAdded, onReplaced, onStale }: Props) => {
  const [text, setText] = useState('');
  const [removal, setRemoval] = useState<Removal | null>(null);
  const { running, fault, setFault, run } = useChange(onStale);
  const pasted = useMemo(() => parseAddresses(text), [text]);
  const { addresses } = pasted;
  const error = FIELDS.map((field) => fault.errors[field]).find((message) => message !== undefined);

  const isWrong = (): boolean => {
    const wrong = wrongAddresses(pasted);
    if (wrong !== null) {
      setFault({ ...NO_FAULT, errors: { addresses: wrong } });
      document.querySelector<HTMLElement>('#pasted-addresses')?.focus();
    }
    return wrong !== null;
  };
  const onInput = (value: string) => {
    setText(value);
    setFault(NO_FAULT);
  };
  const add = async (event: Event) => {
    event.preventDefault();
    if (running !== null || isWrong()) return;
    const input = { webhookId, addAddresses: addresses };
    const change = () => sendChange(UpdateWebhookAddresses, { input }, (data) => data.updateWebhookAddresses);
    const changed = await run('add', change, FIELDS);
    if (changed === null) return;
    setText('');
    onAdded(changed.added);
  };
  const askToReplace = async () => {
    if (!isWrong()) setRemoval(await run('count', () => countRemoved(webhookId, addresses)));
  };
  const replaced = (list: readonly string[]) => {
    setRemoval(null);
    setText('');
    onReplaced(list);
  };

  return html`<form class="stack webhook-form" novalidate onSubmit=${add}>
      <${FaultNotice} fault=${fault} />
      <${TextField} id="pasted-addresses" label="More addresses" rows=${4} value=${text} error=${error} hint=${countOf(pasted)} onChange=${onInput} isFirst />
      <div class="bar">
        <button type="submit" class="primary" disabled=${running !== null}>${running === 'add' ? 'Adding…' : 'Add'}</button>
        <button type="button" class="danger" disabled=${running !== null} onClick=${askToReplace}>${running === 'count' ? 'Counting…' : 'Replace all'}</button>
      </div>
    </form>
    ${removal !== null && html`<${ReplaceDialog} webhookId=${webhookId} addresses=${addresses} removal=${removal} onReplaced=${replaced} onStale=${onStale} onClose=${() => setRemoval(null)} />`}`;
};
