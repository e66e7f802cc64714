import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog, html } from '../components.ts';
import { Search } from './search.ts';

const isMac = navigator.userAgent.includes('Mac');

/** Whether the event is ⌘K on a Mac and Ctrl+K elsewhere. */
const isShortcut = ({ key, metaKey, ctrlKey, shiftKey, altKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'k' && (isMac ? metaKey : ctrlKey) && !shiftKey && !altKey;

/** A button, and a key, that open one field for wallets, labels, tokens and views from anywhere. */
export const Palette = () => {
  const [isOpen, setOpen] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!isShortcut(event)) return;
      event.preventDefault();
      // Another dialog keeps what is being done in it.
      setOpen((before) => !before && document.querySelector('dialog[open]') === null);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  useEffect(() => {
    if (isOpen) input.current?.focus();
  }, [isOpen]);
  const close = () => setOpen(false);
  return html`<button type="button" class="open-palette" aria-keyshortcuts=${isMac ? 'Meta+K' : 'Control+K'} onClick=${() => setOpen(true)}>Search <kbd>${isMac ? '⌘K' : 'Ctrl K'}</kbd></button>
    ${isOpen && html`<${Dialog} title="Go to" onClose=${close}><${Search} name="palette" label="A wallet, a label, a token or a view" input=${input} isPalette onDone=${close} /><//>`}`;
};
