import type { WebhookType } from '../../__generated__/operations.ts';
import { ChainFilter } from '../../components/chain-filter.ts';
import { html } from '../../html.ts';
import { ACTIVITIES, ASSETS, SIDES } from '../webhook-words.ts';
import { type Settings, settingsOf } from './draft.ts';
import { Choice, Description, TextField } from './form-fields.ts';
import type { Bound, Form } from './use-form.ts';

const ANY = 'Empty: any (null).';

const ChainsField = ({ id, value, error, onChange }: Bound<Settings['chainIds']>) => {
  const isEmptyList = value !== null && value.length === 0;
  const choose = (chainIds: readonly number[]) => onChange(chainIds.length === 0 ? null : chainIds);
  return html`<div class=${`field ${error === undefined ? '' : 'is-invalid'}`} role="group" aria-label="Chains" aria-describedby=${`${id}-hint${error === undefined ? '' : ` ${id}-error`}`}>
    <${ChainFilter} selected=${value ?? []} none=${isEmptyList ? 'none' : 'any'} onChange=${choose} />
    <${Description} id=${id} error=${error} hint=${isEmptyList ? 'Its list of chains is empty, so that nothing is delivered.' : 'None chosen: any chain that the service delivers for (null).'} />
    ${isEmptyList && html`<button type="button" onClick=${() => onChange(null)}>Let every chain through</button>`}
  </div>`;
};

type Props = { form: Form<Settings>; type: WebhookType | null };

/** The filters that webhooks of a type may have. */
export const FilterFields = ({ form: { bind }, type }: Props) => {
  const has = settingsOf(type);
  return html`
    <${ChainsField} ...${bind('chainIds')} />
    <${TextField} ...${bind('tokenAddress')} label="Token address" hint=${`Only events of this token. ${ANY}`} />
    <${Choice} ...${bind('assetType')} label="Kind of asset" none="any" options=${ASSETS} hint="Any is null." />
    ${has.includes('activityType') && html`<${Choice} ...${bind('activityType')} label="Activity" none="any" options=${ACTIVITIES} hint="Any is null." />`}
    ${has.includes('transactionType') && html`<${Choice} ...${bind('transactionType')} label="Side of the transaction" none="any" options=${SIDES} hint="Any is null: both sides." />`}
    ${has.includes('counterparty') && html`<${TextField} ...${bind('counterparty')} label="Counterparty" hint=${`Only transactions with this address. ${ANY}`} />`}`;
};
