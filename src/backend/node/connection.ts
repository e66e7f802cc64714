import { createRedactor, NodeUnavailableError, nodeName, WrongChainError } from './errors.ts';
import { createHttpTransport } from './http.ts';
import { type CallReport, observeCalls } from './observe-calls.ts';
import { createSocketTransport } from './socket.ts';
import type { Transport } from './transport.ts';

export type ConnectionOptions = {
  /** `http:`, `https:`, `ws:` or `wss:`. */
  readonly url: string;
  /** The chain that the node must belong to. Null: any, as it is not known yet. */
  readonly chainId: number | null;
  /** Called after each attempt at a call. */
  readonly onCall?: ((report: CallReport) => void) | undefined;
};

/** A connection to a node that is known to belong to the right chain. */
export type Connection = {
  /** The node without credentials, as logs and errors name it. */
  readonly name: string;
  /** As in Transport. */
  readonly hasBatches: boolean;
  /** As in Transport. Rejects also with WrongChainError when the node belongs to another chain. */
  send: Transport['send'];
  close(): Promise<void>;
};

/** Milliseconds for a handshake, and for the question which chain the node belongs to. */
const GREETING_MS = 5_000;

/** Opens no connection before the first call. */
export const createConnection = ({
  url: text,
  chainId,
  onCall = () => {},
}: ConnectionOptions): Connection => {
  const url = new URL(text);
  const redact = createRedactor(url);
  /** Settles when the connection is known to be to the right chain; null before that is asked. */
  let checked: Promise<void> | null = null;

  const options = {
    url,
    redact,
    onLost() {
      checked = null;
    },
  };
  const transport = observeCalls(
    url.protocol.startsWith('ws')
      ? createSocketTransport({ ...options, handshakeMs: GREETING_MS })
      : createHttpTransport(options),
    onCall,
  );

  const checkChain = async (timeoutMs: number): Promise<void> => {
    if (chainId === null) return;
    const question = { method: 'eth_chainId', params: [] };
    const [outcome] = await transport.send([question], Math.min(timeoutMs, GREETING_MS));
    if (outcome === undefined || 'refusal' in outcome)
      throw new NodeUnavailableError(`the node refuses eth_chainId: ${outcome?.refusal.message}`);
    const { result } = outcome;
    if (typeof result !== 'string' || !/^(?:0x[0-9a-f]+|\d+)$/i.test(result))
      throw new NodeUnavailableError(`expected the id of a chain, got ${redact(JSON.stringify(result))}`);
    if (Number(result) !== chainId)
      throw new WrongChainError(`expected a node of chain ${chainId}, got chain ${Number(result)}`);
  };

  return {
    name: nodeName(url),
    hasBatches: transport.hasBatches,
    async send(calls, timeoutMs) {
      checked ??= checkChain(timeoutMs);
      const current = checked;
      await current.catch((problem: unknown) => {
        if (checked === current) checked = null;
        throw problem;
      });
      return transport.send(calls, timeoutMs);
    },
    close: () => transport.close(),
  };
};
