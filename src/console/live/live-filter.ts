import { useEffect, useState } from 'preact/hooks';
import { type DeliveryFilter, Webhooks, type WebhookType } from '../__generated__/operations.ts';
import { send } from '../api/client.ts';
import { inWords, shorten } from '../format.ts';
import { html } from '../html.ts';
import { settings } from '../settings.ts';
import { hrefOf, isAddress, navigate } from '../state.ts';

const TYPES: readonly WebhookType[] = ['TRANSACTIONS', 'ACTIVITIES', 'BALANCES'];

const typesIn = (params: URLSearchParams): WebhookType[] => {
  const named = params.get('types')?.split(',') ?? [];
  return TYPES.filter((type) => named.includes(type));
};

/** The filter in the address bar. Whatever it does not name is not filtered. */
export const filterOf = (params: URLSearchParams): DeliveryFilter => {
  const [address, webhook] = [params.get('address'), params.get('webhook')];
  const types = typesIn(params);
  return {
    ...(address && isAddress(address) ? { address } : {}),
    ...(webhook ? { webhookIds: [webhook] } : {}),
    ...(types.length > 0 ? { types } : {}),
  };
};

type Choice = { readonly webhookId: string; readonly name: string | null };

/** The webhooks to choose from; none for a caller that may not list them. */
const useWebhooks = (): readonly Choice[] => {
  const [webhooks, setWebhooks] = useState<readonly Choice[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    send(Webhooks, { first: 100 }, abort.signal)
      .then(({ data }) => setWebhooks(data?.webhooks?.edges.flatMap((edge) => edge?.node ?? []) ?? []))
      .catch(() => {});
    return () => abort.abort();
  }, []);
  return webhooks;
};

/** Chooses which events are shown: of one wallet, of some types, of one webhook. */
export const LiveFilter = ({ params }: { params: URLSearchParams }) => {
  const webhooks = useWebhooks();
  const [error, setError] = useState('');
  const types = typesIn(params);
  const change = (name: string, value: string) => {
    const next = new URLSearchParams(params);
    if (value === '') next.delete(name);
    else next.set(name, value);
    navigate(hrefOf('live', [], Object.fromEntries(next)));
  };
  const onAddress = (event: Event) => {
    const text = (event.currentTarget as HTMLInputElement).value.trim();
    const address =
      settings.wallets.find(({ name }) => name === text.toLowerCase())?.address ?? text.toLowerCase();
    const isValid = address === '' || isAddress(address);
    setError(
      isValid ? '' : `Expected an address, 0x and 40 hex digits, got ${JSON.stringify(shorten(text, 50))}.`,
    );
    if (isValid) change('address', address);
  };
  const chosen = params.get('webhook') ?? '';
  return html`<form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
    <label class="field">Wallet
      <input name="address" list="live-wallets" spellcheck=${false} autocomplete="off" placeholder="all wallets: 0x… for one" value=${params.get('address') ?? ''} onChange=${onAddress} aria-invalid=${error !== ''} aria-describedby="live-address-error" />
      <datalist id="live-wallets">${settings.wallets.map(({ name, address }) => html`<option key=${address} value=${name} />`)}</datalist>
    </label>
    <label class="field">Webhook
      <select name="webhook" value=${chosen} onChange=${(event: Event) => change('webhook', (event.currentTarget as HTMLSelectElement).value)}>
        <option value="">all webhooks</option>
        ${chosen !== '' && !webhooks.some(({ webhookId }) => webhookId === chosen) && html`<option value=${chosen}>${chosen}</option>`}
        ${webhooks.map(({ webhookId, name }) => html`<option key=${webhookId} value=${webhookId}>${shorten(name ?? webhookId, 50)}</option>`)}
      </select>
    </label>
    <fieldset>
      <legend>Types</legend>
      ${TYPES.map(
        (type) =>
          html`<label key=${type} class="choice"><input type="checkbox" checked=${types.includes(type)} onChange=${() => change('types', (types.includes(type) ? types.filter((other) => other !== type) : [...types, type]).join(','))} /> ${inWords(type)}</label>`,
      )}
    </fieldset>
    <p id="live-address-error" class="bad" role="alert">${error}</p>
  </form>`;
};
