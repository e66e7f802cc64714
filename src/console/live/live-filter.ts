import { useState } from 'preact/hooks';
import { type DeliveryFilter, Webhooks, type WebhookType } from '../__generated__/operations.ts';
import type { Asked } from '../api/live-feed.ts';
import { useOperation } from '../api/use-answer.ts';
import { html } from '../components.ts';
import { inWords, shorten } from '../format.ts';
import { nameOfAddress } from '../labels.ts';
import { setParams, useParam, wrongAddress } from '../route.ts';
import { settings } from '../settings.ts';
import { ALL_TYPES, typeOf, type Webhook, watchedBy } from '../webhooks/webhook-words.ts';

const isType = (name: string): name is WebhookType => ALL_TYPES.some((type) => type === name);

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

const quoted = (text: string): string => JSON.stringify(shorten(text, 50));

type Read = {
  readonly asked: Asked;
  /** Sentences about what can't exist. */
  readonly wrong: readonly string[];
};

/** What the address bar asks for. Whatever it does not name is not filtered. */
export const askedOf = (params: URLSearchParams): Read => {
  const [address, webhook] = [params.get('address'), params.get('webhook')];
  const names = (params.get('types') ?? '').split(',').filter(Boolean);
  const types = names.filter(isType);
  const others = names.filter((name) => !isType(name));
  const filter: DeliveryFilter = {
    ...(address && { address }),
    ...(webhook && { webhookIds: [webhook] }),
    ...(types.length > 0 && { types }),
  };
  const wrong = [
    address && wrongAddress(address),
    webhook && !UUID.test(webhook) && `Expected the id of a webhook, a UUID, got ${quoted(webhook)}.`,
    others.length > 0 && `Expected types among ${ALL_TYPES.join(', ')}, got ${quoted(others.join(','))}.`,
  ];
  return {
    asked: { filter, address },
    wrong: wrong.filter((sentence): sentence is string => Boolean(sentence)),
  };
};

const optionOf = (webhook: Pick<Webhook, 'webhookId' | 'name' | 'type' | 'deliversHere'>): string => {
  const watched = watchedBy(webhook);
  if (watched !== null) return `watch of ${nameOfAddress(watched)}: ${typeOf(webhook).toLowerCase()}`;
  return shorten(webhook.name ?? webhook.webhookId, 50);
};

type Edited = { readonly currentTarget: HTMLInputElement | HTMLSelectElement };

/** Chooses which events are shown: of one wallet, of some types, of one webhook. */
export const LiveFilter = ({ params }: { params: URLSearchParams }) => {
  // None for a caller that may not list them.
  const { data } = useOperation(Webhooks, { first: 100 });
  const webhooks = data?.webhooks?.nodes.filter((node) => node !== null) ?? [];
  const [error, setError] = useState<string | null>(null);
  const types = askedOf(params).asked.filter.types ?? [];
  const onAddress = ({ currentTarget }: Edited) => {
    const text = currentTarget.value.trim();
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
  return html`<form class="filters grid" style="--column: 26rem" onSubmit=${(event: Event) => event.preventDefault()}>
    <label class="field">Wallet
      <input class="hex" name="address" list="live-wallets" spellcheck=${false} autocomplete="off" autocapitalize="none" placeholder="all wallets, or the 0x… of one" value=${params.get('address') ?? ''} onChange=${onAddress} aria-invalid=${error !== null} aria-describedby="live-address-error" />
      <datalist id="live-wallets">${settings.wallets.map(({ name, address }) => html`<option key=${address} value=${name} />`)}</datalist>
    </label>
    <label class="field">Webhook
      <select name="webhook" value=${chosen} onChange=${({ currentTarget }: Edited) => setChosen(currentTarget.value, true)}>
        <option value="">all webhooks</option>
        ${chosen !== '' && !webhooks.some(({ webhookId }) => webhookId === chosen) && html`<option value=${chosen}>${chosen}</option>`}
        ${webhooks.map((webhook) => html`<option key=${webhook.webhookId} value=${webhook.webhookId}>${optionOf(webhook)}</option>`)}
      </select>
    </label>
    <fieldset class="bar">
      <legend>Types</legend>
      ${ALL_TYPES.map((type) => html`<label key=${type} class="choice"><input type="checkbox" checked=${types.includes(type)} onChange=${() => toggle(type)} /> ${inWords(type)}</label>`)}
    </fieldset>
    <p id="live-address-error" class="bad" role="alert">${error}</p>
  </form>`;
};
