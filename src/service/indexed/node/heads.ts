import { type BlockRef, readBlockRef } from './answers.ts';
import { createRedactor } from './errors.ts';
import { createSocketTransport } from './socket.ts';

export type HeadsOptions = {
  readonly url: URL;
  readonly chainId: number;
  readonly timeoutMs: number;
  /** Milliseconds between two polls of a chain that makes at most a block in that time. */
  readonly pollMs: number;
  /** Asks for the newest block. */
  readonly poll: () => Promise<BlockRef>;
  readonly onHead: (head: BlockRef) => void;
  readonly onProblem: (problem: unknown) => void;
};

/** Milliseconds between polls while blocks are announced, in case a node forgets its subscribers. */
const ANNOUNCED_POLL_MS = 10_000;
const FASTEST_POLL_MS = 100;
const FIRST_RECONNECT_MS = 1_000;
/** For a node that announces nothing, as most don't on their HTTP port. */
const LAST_RECONNECT_MS = 300_000;

/** Subscribes to new blocks over a WebSocket. Resolves when the node has agreed. */
export const announceHeads = async ({
  url: httpUrl,
  chainId,
  timeoutMs,
  onHead,
  onLost,
}: Pick<HeadsOptions, 'url' | 'timeoutMs' | 'onHead'> & {
  readonly chainId: number | null;
  readonly onLost: () => void;
}): Promise<{ close(): Promise<void> }> => {
  let isAgreed = false;
  const url = new URL(httpUrl);
  url.protocol = url.protocol.replace('http', 'ws');
  const socket = createSocketTransport({
    url,
    timeoutMs,
    redact: createRedactor(url),
    onLost() {
      if (isAgreed) onLost();
    },
    onNotification(header) {
      try {
        onHead(readBlockRef(header));
      } catch {
        // Polling finds what was announced in a way that can't be read.
      }
    },
  });
  try {
    const [chain, subscription] = await socket.send([
      { method: 'eth_chainId', params: [] },
      { method: 'eth_subscribe', params: ['newHeads'] },
    ]);
    if (chain === undefined || 'refusal' in chain || subscription === undefined || 'refusal' in subscription)
      throw new Error('the node announces no blocks');
    if (chainId !== null && Number(chain.result) !== chainId) throw new Error('the node is of another chain');
    isAgreed = true;
    return socket;
  } catch (problem) {
    await socket.close();
    throw problem;
  }
};

/**
 * Tells of new blocks: as the node announces them over a WebSocket, on the port of its HTTP API too, else by polling. A block
 * may be told twice, and blocks between two that are told are not.
 */
export const watchHeads = (options: HeadsOptions): { close(): Promise<void> } => {
  const { pollMs, poll, onProblem } = options;
  let interval = pollMs;
  let reconnectMs = FIRST_RECONNECT_MS;
  let last: number | null = null;
  let announced: { close(): Promise<void> } | null = null;
  let isClosed = false;
  let pollTimer: NodeJS.Timeout | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;

  const onHead = (head: BlockRef): void => {
    if (!isClosed) options.onHead(head);
  };

  /** A chain that has made several blocks since the last poll is polled more often. */
  const adapt = (number: number): void => {
    const blocks = last === null ? 1 : number - last;
    last = number;
    if (blocks > 1) interval = Math.max(FASTEST_POLL_MS, interval / 2);
    if (blocks < 1) interval = Math.min(pollMs, interval * 2);
  };

  const pollNow = async (): Promise<void> => {
    try {
      const head = await poll();
      adapt(head.number);
      onHead(head);
    } catch (problem) {
      if (!isClosed) onProblem(problem);
    }
    pollAfter(announced === null ? interval : ANNOUNCED_POLL_MS);
  };

  const pollAfter = (ms: number): void => {
    clearTimeout(pollTimer);
    if (!isClosed) pollTimer = setTimeout(pollNow, ms);
  };

  const subscribe = async (): Promise<void> => {
    try {
      const connection = await announceHeads({
        ...options,
        onHead,
        onLost() {
          announced = null;
          reconnect();
        },
      });
      announced = connection;
      reconnectMs = FIRST_RECONNECT_MS;
      if (isClosed) await connection.close();
    } catch {
      reconnect();
    }
  };

  const reconnect = (): void => {
    clearTimeout(reconnectTimer);
    if (isClosed) return;
    reconnectTimer = setTimeout(subscribe, reconnectMs * (0.5 + Math.random() / 2));
    reconnectMs = Math.min(LAST_RECONNECT_MS, reconnectMs * 2);
    pollAfter(0);
  };

  void pollNow();
  void subscribe();
  return {
    async close() {
      isClosed = true;
      clearTimeout(pollTimer);
      clearTimeout(reconnectTimer);
      await announced?.close();
    },
  };
};
