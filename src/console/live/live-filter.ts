import { useState } from 'preact/hooks';
import { type DeliveryFilter, Webhooks, type WebhookType } from '../__generated__/operations.ts';
import type { Asked } from '../api/live-feed.ts';
import { useOperation } from '../api/use-answer.ts';
import { html } from '../components.ts';
import { inWords, shorten } from '../format.ts';
import { setParams, useParam, wrongAddress } from '../route.ts';
import { settings } from '../settings.ts';
import { ALL_TYPES } from '../webhooks/webhook-words.ts';

const isType = (name: string): name is WebhookType => ALL_TYPES.some((type) => type === name);

const namesOf = (params: URLSearchParams): readonly string[] =>
  (params.get('types') ?? '').split(',').filter(Boolean);

const typesIn = (params: URLSearchParams): readonly WebhookType[] => namesOf(params).filter(isType);

/** What the address bar asks for. Whatever it does not name is not filtered. */
export const askedOf = (params: URLSearchParams): Asked => {
  const [address, webhook] = [params.get('address'), params.get('webhook')];
  const types = typesIn(params);
  const filter: DeliveryFilter = {
    ...(address ? { address } : {}),
    ...(webhook ? { webhookIds: [webhook] } : {}),
    ...(types.length > 0 ? { types } : {}),
  };
  return { filter, address };
};

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

export const wrongIn = (params: URLSearchParams): readonly string[] => {
  const [address, webhook] = [params.get('address'), params.get('webhook')];
  const types = namesOf(params).filter((name) => !isType(name));
  return [
    ...(address ? [wrongAddress(address)] : []),
    webhook && !UUID.test(webhook)
      ? `Expected the id of a webhook, a UUID, got ${JSON.stringify(shorten(webhook, 50))}.`
      : null,
    types.length > 0
      ? `Expected types among ${ALL_TYPES.join(', ')}, got ${JSON.stringify(shorten(types.join(','), 50))}.`
      : null,
  ].filter((sentence) => sentence !== null);
};

const textOf = ({ currentTarget }: Event): string =>
  currentTarget instanceof HTMLInputElement || currentTarget instanceof HTMLSelectElement
    ? currentTarget.value.trim()
    : '';

/** Chooses which events are shown: of one wallet, of some types, of one webhook. */
export const LiveFilter = ({ params }: { params: URLSearchParams }) => {
  // None for a caller that may not list them.
  const { data } = useOperation(Webhooks, { first: 100 });
  const webhooks = data?.webhooks?.edges.flatMap((edge) => edge?.node ?? []) ?? [];
  const [error, setError] = useState<string | null>(null);
  const types = typesIn(params);
  const onAddress = (event: Event) => {
    const text = textOf(event);
    const address = settings.wallets.find(({ name }) => name === text.toLowerCase())?.address ?? text;
    const wrong = address === '' ? null : wrongAddress(address);
    setError(wrong);
    if (wrong === null) setParams({ address }, true);
  };
  const toggle = (type: WebhookType) => {
    const next = types.includes(type) ? types.filter((other) => other !== type) : [...types, type];
    setParams({ types: next.join() }, true);
  };
  const [chosen, setChosen] = useParam('webhook');
  return html`<form class="filters" onSubmit=${(event: Event) => event.preventDefault()}>
    <label class="field">Wallet
      <input class="hex" name="address" list="live-wallets" spellcheck=${false} autocomplete="off" autocapitalize="none" placeholder="all wallets, or the 0x… of one" value=${params.get('address') ?? ''} onChange=${onAddress} aria-invalid=${error !== null} aria-describedby="live-address-error" />
      <datalist id="live-wallets">${settings.wallets.map(({ name, address }) => html`<option key=${address} value=${name} />`)}</datalist>
    </label>
    <label class="field">Webhook
      <select name="webhook" value=${chosen} onChange=${(event: Event) => setChosen(textOf(event), true)}>
        <option value="">all webhooks</option>
        ${chosen !== '' && !webhooks.some(({ webhookId }) => webhookId === chosen) && html`<option value=${chosen}>${chosen}</option>`}
        ${webhooks.map(({ webhookId, name }) => html`<option key=${webhookId} value=${webhookId}>${shorten(name ?? webhookId, 50)}</option>`)}
      </select>
    </label>
    <fieldset class="bar">
      <legend>Types</legend>
      ${ALL_TYPES.map((type) => html`<label key=${type} class="choice"><input type="checkbox" checked=${types.includes(type)} onChange=${() => toggle(type)} /> ${inWords(type)}</label>`)}
    </fieldset>
    <p id="live-address-error" class="bad" role="alert">${error}</p>
  </form>`;
};
