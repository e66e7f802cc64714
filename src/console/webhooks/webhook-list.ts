import type { Paged } from '../api/use-connection.ts';
import { LoadMore } from '../components/load-more.ts';
import { Empty, ProblemNotice, Skeleton } from '../components/notice.ts';
import { html } from '../html.ts';
import { settings } from '../settings.ts';
import { type RowDialog, WebhookRow } from './webhook-row.ts';
import type { Webhook } from './webhook-words.ts';

type Props = {
  list: Paged<Webhook>;
  onOpen: (dialog: RowDialog, webhook: Webhook) => void;
  onChanged: (webhook: Webhook, status: string) => void;
};

/** Whether the token lacks the scope. A key that may not list webhooks is refused by the service, and has no scopes. */
export const isOutOfScope = ({ problem }: Paged<Webhook>): boolean =>
  problem?.code === 'FORBIDDEN' && settings.auth === 'jwt';

const NeedsScope = ({ message }: { message: string }) =>
  html`<div class="notice is-error" role="alert">
    <strong>Webhooks need the scope “webhooks”</strong>
    <p>It is for administrators: your token does not name it. Sign out to enter another token.</p>
    <p class="quiet">${message}</p>
  </div>`;

export const WebhookList = ({ list, onOpen, onChanged }: Props) => {
  const { items, isLoading, problem, malformed, reload } = list;
  if (items.length === 0) {
    if (problem !== null && isOutOfScope(list)) return html`<${NeedsScope} message=${problem.message} />`;
    if (problem !== null) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
    if (isLoading) return html`<div class="webhooks-loading"><${Skeleton} rows=${3} /></div>`;
    return html`<${Empty} title="No webhooks yet">Create one: the events of its addresses appear under Live.<//>`;
  }
  return html`
    ${malformed > 0 && html`<p class="quiet">Of what the service sent, ${malformed} can’t be read and ${malformed === 1 ? 'is' : 'are'} left out.</p>`}
    <ul class="rows panel" aria-label="Webhooks">
      ${items.map(
        ({ node }) =>
          html`<${WebhookRow} key=${node.id} webhook=${node} onOpen=${(dialog: RowDialog) => onOpen(dialog, node)} onChanged=${onChanged} onStale=${reload} />`,
      )}
    </ul>
    <${LoadMore} list=${list} what="webhooks" />`;
};
