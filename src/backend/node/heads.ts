import { type BlockRef, readBlockRef } from './answers.ts';
import { createRedactor, NodeUnavailableError, SilentNodeError, TimedOutError } from './errors.ts';
import { createSocketTransport } from './socket.ts';

export type HeadsOptions = {
  readonly url: URL;
  readonly chainId: number;
  /** Milliseconds between two polls of a chain that makes at most a block in that time. */
  readonly pollMs: number;
  /** Whether the node can take blocks back without announcing it. Asked once the node has answered. */
  readonly isForDevelopment: () => Promise<boolean>;
  /** Asks for the newest block, within a few seconds. */
  readonly poll: () => Promise<BlockRef>;
  readonly onHead: (head: BlockRef) => void;
  /** Called each time that the node fails: with SilentNodeError if it does not answer at all. */
  readonly onProblem: (problem: unknown) => void;
};

/** Milliseconds that a node has to accept a WebSocket, and to agree to announce blocks. */
const SUBSCRIBE_MS = 10_000;
/**
 * The longest between polls while blocks are announced, in case a node forgets its subscribers. Where blocks have come at
 * shorter intervals, it is asked once some are missing.
 */
const ANNOUNCED_POLL_MS = 10_000;
const MISSED_BLOCKS = 3;
const FASTEST_POLL_MS = 100;
const FIRST_RECONNECT_MS = 1_000;
/** For a node that announces nothing, as most don't on their HTTP port. */
const LAST_RECONNECT_MS = 300_000;

/** Subscribes to new blocks over a WebSocket. Resolves when the node has agreed. */
export const announceHeads = async ({
  url: httpUrl,
  chainId,
  timeoutMs = SUBSCRIBE_MS,
  onHead,
  onLost,
}: Pick<HeadsOptions, 'url' | 'onHead'> & {
  readonly timeoutMs?: number;
  readonly chainId: number | null;
  readonly onLost: () => void;
}): Promise<{ close(): Promise<void> }> => {
  let isAgreed = false;
  const url = new URL(httpUrl);
  url.protocol = url.protocol.replace('http', 'ws');
  const socket = createSocketTransport({
    url,
    handshakeMs: timeoutMs,
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
    const greeting = [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_subscribe', params: ['newHeads'] },
    ];
    const [chain, subscription] = await socket.send(greeting, timeoutMs);
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
 * Reports new blocks: as the node announces them over a WebSocket, on the port of its HTTP API too, else by polling. A block may
 * be reported twice, and blocks between two reported ones are skipped.
 */
export const watchHeads = (options: HeadsOptions): { close(): Promise<void> } => {
  const { pollMs, poll, onProblem } = options;
  let interval = pollMs;
  let reconnectMs = FIRST_RECONNECT_MS;
  let last: number | null = null;
  let announced: { close(): Promise<void> } | null = null;
  let isClosed = false;
  /** Null until it is asked. A node for development is polled fast, announced blocks or not, for some 2% of a core. */
  let isForDevelopment: boolean | null = null;
  let pollTimer: NodeJS.Timeout | undefined;
  let reconnectTimer: NodeJS.Timeout | undefined;
  /** When the node last said anything, and when it last announced a block. */
  let heardAt = Date.now();
  let announcedAt = heardAt;

  const onHead = (head: BlockRef): void => {
    heardAt = Date.now();
    if (!isClosed) options.onHead(head);
  };

  const onAnnounced = (head: BlockRef): void => {
    onHead(head);
    const interval = heardAt - announcedAt;
    announcedAt = heardAt;
    if (isForDevelopment !== true)
      pollAfter(Math.min(ANNOUNCED_POLL_MS, Math.max(pollMs, MISSED_BLOCKS * interval)));
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
      isForDevelopment ??= await options.isForDevelopment().catch(() => null);
      if (isForDevelopment === true) pollAfter(FASTEST_POLL_MS);
      else pollAfter(announced === null ? interval : ANNOUNCED_POLL_MS);
    } catch (problem) {
      const isSilent = problem instanceof TimedOutError;
      if (!isSilent) heardAt = Date.now();
      if (!isClosed) onProblem(isSilent ? new SilentNodeError(heardAt) : problem);
      pollAfter(Math.max(pollMs, problem instanceof NodeUnavailableError ? problem.retryAfterMs : 0));
    }
  };

  const pollAfter = (ms: number): void => {
    clearTimeout(pollTimer);
    if (!isClosed) pollTimer = setTimeout(pollNow, ms);
  };

  const subscribe = async (): Promise<void> => {
    try {
      const connection = await announceHeads({
        ...options,
        onHead: onAnnounced,
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
