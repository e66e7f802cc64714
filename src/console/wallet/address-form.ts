import { useRef, useState } from 'preact/hooks';
import { shorten } from '../format.ts';
import { html } from '../html.ts';
import { settings } from '../settings.ts';
import { hrefOf, isAddress, navigate } from '../state.ts';

type Props = { shown: readonly string[]; most: number };

/** Opens a wallet, alone or beside those that are shown. */
export const AddressForm = ({ shown, most }: Props) => {
  const input = useRef<HTMLInputElement>(null);
  const [error, setError] = useState('');

  const open = (beside: readonly string[]) => {
    const entered = readAddress(input.current?.value ?? '');
    if ('error' in entered) setError(entered.error);
    else if (beside.includes(entered.address))
      setError('Expected another wallet, got one that is shown below.');
    else {
      navigate(hrefOf('wallet', [...beside, entered.address]));
      setError('');
      if (input.current) input.current.value = '';
      return;
    }
    input.current?.focus();
  };
  const onSubmit = (event: Event) => {
    event.preventDefault();
    open([]);
  };
  const isFull = shown.length >= most;
  const hasNames = settings.wallets.length > 0;

  return html`<form class="panel address-form" onSubmit=${onSubmit} novalidate>
    <div class="field">
      <label for="wallet-address">Address of a wallet</label>
      <input ref=${input} id="wallet-address" name="address" list=${hasNames ? 'wallet-names' : undefined} placeholder="0x…" autocomplete="off" autocapitalize="none" spellcheck=${false} aria-invalid=${error !== ''} aria-describedby="wallet-address-hint wallet-address-error" onInput=${() => setError('')} />
      <span class="hint" id="wallet-address-hint">0x and 40 hex digits${hasNames && ', or the name of a wallet of the sandbox'}</span>
      <span class="error" id="wallet-address-error" role="alert">${error}</span>
      ${hasNames && html`<datalist id="wallet-names">${settings.wallets.map(({ name, address, shows }) => html`<option key=${address} value=${name}>${shows}</option>`)}</datalist>`}
    </div>
    <div class="bar">
      <button type="submit" class="primary">Open</button>
      ${shown.length > 0 && html`<button type="button" disabled=${isFull} onClick=${() => open(shown)}>Add beside</button>`}
      ${isFull && html`<span class="quiet">${most} wallets are the most side by side.</span>`}
    </div>
  </form>`;
};

type Entered = { readonly address: string } | { readonly error: string };

const expected = (): string => {
  const [first] = settings.wallets;
  return `Expected an address, 0x and 40 hex digits${first ? `, or the name of a wallet of the sandbox such as ${first.name}` : ''}`;
};

const got = (text: string): string => {
  if (text === '') return 'nothing';
  const digits = /^0x([\da-f]*)$/i.exec(text)?.[1];
  if (digits !== undefined) return `0x and ${digits.length} hex digits`;
  return JSON.stringify(shorten(text, 50));
};

/** Reads what was typed or pasted: an address in any case, or the name of one of the sandbox's wallets. */
const readAddress = (typed: string): Entered => {
  const text = typed.trim();
  const named = settings.wallets.find(({ name }) => name === text.toLowerCase());
  if (named) return { address: named.address.toLowerCase() };
  return isAddress(text) ? { address: text.toLowerCase() } : { error: `${expected()}, got ${got(text)}.` };
};
