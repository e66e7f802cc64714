import { useState } from 'preact/hooks';
import { ReplayDeliveries, type ReplayDeliveriesMutation } from '../__generated__/operations.ts';
import { Dialog, html } from '../components.ts';
import { counted } from '../format.ts';
import { FaultNotice, sendChange, useChange } from './change.ts';
import { Field } from './field.ts';

type Replayed = ReplayDeliveriesMutation['replayDeliveries']['replayed'];

/** The most that one mutation takes. */
export const MOST_REPLAYED = 20;

/** Posts stored deliveries to a URL, and says what came of each. */
export const ReplayDialog = ({ ids, onClose }: { ids: readonly string[]; onClose: () => void }) => {
  const [url, setUrl] = useState('');
  const [replayed, setReplayed] = useState<Replayed | null>(null);
  const { running, fault, run } = useChange(() => {});
  const onSubmit = async (event: Event) => {
    event.preventDefault();
    setReplayed(null);
    if (running !== null) return;
    const done = await run('replay', () => sendChange(ReplayDeliveries, { ids, url: url.trim() }), ['url']);
    setReplayed(done?.replayed ?? null);
  };
  const failed = replayed?.filter(({ problem }) => problem !== null) ?? [];
  return html`<${Dialog} title=${`Replay ${counted(ids.length, 'delivery', 'deliveries')}`} onClose=${onClose}>
    <form class="stack webhook-form" novalidate onSubmit=${onSubmit}>
      <${FaultNotice} fault=${fault} />
      <${Field} id="replay-url" label="URL" isFirst=${true} hint="The gateway posts each body there, unsigned and as it was stored, the oldest first. It does not try again." value=${url} error=${fault.errors.url} onChange=${setUrl} />
      ${
        replayed !== null &&
        html`<div role="status"><p>Accepted: ${replayed.length - failed.length} of ${replayed.length}.</p>
        ${failed[0] && html`<p class="bad">${failed.length} failed: ${failed[0].problem}.</p>`}</div>`
      }
      <div class="bar"><button type="submit" class="primary" disabled=${running !== null}>${running ? 'Replaying…' : 'Replay'}</button></div>
    </form>
  <//>`;
};
