import type { FeedState } from '../api/live-feed.ts';
import { html } from '../html.ts';

const TEXTS: Readonly<Record<FeedState['connection'], readonly [text: string, kind: string]>> = {
  connecting: ['connecting…', ''],
  live: ['live', 'is-good'],
  waiting: ['the connection broke: it resumes where it was', 'is-warn'],
  ended: ['ended', 'is-bad'],
};

/** Whether events arrive at this moment. */
export const ConnectionState = ({ connection }: Pick<FeedState, 'connection'>) => {
  const [text, kind] = TEXTS[connection];
  return html`<span class=${`tag ${kind}`} role="status" data-connection=${connection}>${text}</span>`;
};
