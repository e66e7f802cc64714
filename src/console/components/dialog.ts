import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { html } from '../html.ts';

type Props = { title: string; onClose: () => void; children: ComponentChildren };

/** A modal dialog. The platform keeps the focus in it, and Escape closes it. Afterwards the focus is where it was. */
export const Dialog = ({ title, onClose, children }: Props) => {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opened = element.current;
    const focused = document.activeElement;
    opened?.showModal();
    return () => {
      opened?.close();
      // It is removed before it is closed, so the platform gives nothing back.
      if (focused instanceof HTMLElement && focused.isConnected) focused.focus();
    };
  }, []);
  const onCancel = (event: Event) => {
    event.preventDefault();
    onClose();
  };
  // The browser closes it without asking when Escape is pressed again and again.
  const onClosed = () => {
    if (element.current) onClose();
  };
  return html`<dialog ref=${element} onCancel=${onCancel} onClose=${onClosed} aria-label=${title}>
    <header><h2>${title}</h2><button type="button" class="plain" aria-label="Close" onClick=${onClose}>✕</button></header>
    ${children}
  </dialog>`;
};
