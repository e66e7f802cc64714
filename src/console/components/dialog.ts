import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { html } from '../html.ts';

type Props = { title: string; onClose: () => void; children: ComponentChildren };

/** A modal dialog. The platform keeps the focus in it, and gives it back afterwards; Escape closes it. */
export const Dialog = ({ title, onClose, children }: Props) => {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opened = element.current;
    opened?.showModal();
    return () => opened?.close();
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
