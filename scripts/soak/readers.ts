import { byEventStream, byWebSocket, startLoadClient } from '../../test/support/clients/load-client.ts';
import { sharedClockMs } from './loop.ts';

const MOST_BETWEEN_CUTS = 100;
const CUTS = 1000;

type Options = { readonly url: string; readonly token: string; readonly after: string };

/** A dashboard that loses its connection again and again, and resumes: what it received, and when. */
const startReader = ({ url, token, after }: Options, transport: typeof byWebSocket) => {
  const cursors: string[] = [];
  /** Of each of them, by `sharedClockMs`. */
  const times: number[] = [];
  const cuts: number[] = [];
  for (let at = 0; cuts.length < CUTS; cuts.push(at)) at += 1 + Math.floor(Math.random() * MOST_BETWEEN_CUTS);
  const client = startLoadClient({
    url: () => url,
    transport,
    after,
    cuts,
    credentials: { authorization: `Bearer ${token}` },
    onCursor(index, cursor) {
      cursors[index] = cursor;
      times[index] = sharedClockMs();
    },
  });
  return { cursors, times, client };
};

export type Reader = ReturnType<typeof startReader>;

/** Two of each transport. */
export const startReaders = (options: Options): Reader[] =>
  [byWebSocket, byWebSocket, byEventStream, byEventStream].map((transport) =>
    startReader(options, transport),
  );
