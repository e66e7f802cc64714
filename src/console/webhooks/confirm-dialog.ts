import type { ComponentChildren } from 'preact';
import { Dialog } from '../components/dialog.ts';
import { html } from '../html.ts';
import type { Outcome } from './change.ts';
import { FaultNotice } from './fault-notice.ts';
import { useChange } from './use-change.ts';

type Props<Value> = {
  title: string;
  /** What happens when it is confirmed. */
  children: ComponentChildren;
  action: string;
  busy: string;
  save: () => Promise<Outcome<Value>>;
  onDone: (value: Value) => void;
  onStale: () => void;
  onClose: () => void;
};

/** Asks before a change that takes something away. */
export const ConfirmDialog = <Value>(props: Props<Value>) => {
  const { title, children, action, busy, save, onDone, onStale, onClose } = props;
  const { running, fault, run } = useChange(onStale);
  const onConfirm = async () => {
    const value = await run('confirm', save);
    if (value !== null) onDone(value);
  };
  return html`<${Dialog} title=${title} onClose=${onClose}>
    <div class="stack">
      <${FaultNotice} fault=${fault} />
      ${children}
      <div class="bar">
        <button type="button" autofocus onClick=${onClose}>Cancel</button>
        <button type="button" class="danger" disabled=${running !== null} onClick=${onConfirm}>${running === null ? action : busy}</button>
      </div>
    </div>
  <//>`;
};
