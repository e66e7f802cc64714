import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { WebSocket, WebSocketServer } from 'ws';
import type { NodeFault } from './node-faults.ts';

export type Call = {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
};

export type Answer = Readonly<Record<string, unknown>>;

/** What is in the way of a node. Each is passed on as it is by default. */
type Faults = {
  /** Answers a call in place of the node, which `ask` asks. */
  call?: ((call: Call, ask: () => Promise<Answer>) => Answer | Promise<Answer>) | undefined;
  /** Answers a request, with one or several calls, and returns true; or returns false. */
  request?: ((calls: readonly Call[], response: ServerResponse) => boolean | Promise<boolean>) | undefined;
};

type When = {
  /** Whether a call meets the fault. Default: each does. */
  readonly meets?: (call: Call) => boolean;
  /** How many calls meet it. Default: any number. */
  readonly times?: number;
  /** Milliseconds that it lasts, from the first call that meets it. Default: for ever. */
  readonly lastsMs?: number;
};

/** A fault in the way of a node. */
export type Injected = {
  /** The number of calls that have met it. */
  readonly hits: () => number;
  readonly isOver: () => boolean;
  end(): void;
};

/**
 * A node that passes calls on to another one, one by one, with faults that a test injects. It has no WebSocket, unless one is
 * wanted: that also passes on what the node announces.
 */
export const startFaultyNode = async (target: string, { webSocket = false } = {}) => {
  const faults: Faults = {};
  /** The calls of each request. */
  const requests: (readonly Call[])[] = [];
  const injected = new Set<{ readonly fault: NodeFault; take(call: Call): boolean }>();

  const inject = (fault: NodeFault, { meets = () => true, times, lastsMs }: When = {}): Injected => {
    let hits = 0;
    let firstAt = 0;
    let isEnded = false;
    const isOver = () =>
      isEnded ||
      (times !== undefined && hits >= times) ||
      (lastsMs !== undefined && hits > 0 && Date.now() - firstAt >= lastsMs);
    const take = (call: Call): boolean => {
      if (isOver() || !meets(call)) return false;
      if (hits++ === 0) firstAt = Date.now();
      return true;
    };
    const entry = { fault, take };
    injected.add(entry);
    const end = () => {
      isEnded = true;
      injected.delete(entry);
    };
    return { hits: () => hits, isOver, end };
  };

  const faultOf = (call: Call): NodeFault | undefined =>
    injected.values().find(({ take }) => take(call))?.fault;

  const ask = async (call: Call): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(call) });
    return { ...(JSON.parse(await response.text()) as Answer) };
  };
  const rightAnswer = async (call: Call): Promise<Answer> => ({
    jsonrpc: '2.0',
    id: call.id,
    ...(await (faults.call?.(call, () => ask(call)) ?? ask(call))),
  });
  /** Null where the answer is left out. */
  const answer = async (call: Call, fault: NodeFault | undefined): Promise<Answer | null> => {
    const faulty = fault?.answer?.(call, () => rightAnswer(call));
    if (faulty === undefined) return rightAnswer(call);
    const changed = await faulty;
    return changed && { jsonrpc: '2.0', id: call.id, ...changed };
  };

  const server = createServer(async (request, response) => {
    try {
      const body: unknown = JSON.parse(await text(request));
      const calls = (Array.isArray(body) ? body : [body]) as readonly Call[];
      requests.push(calls);
      if ((await faults.request?.(calls, response)) === true) return;
      const met = calls.map(faultOf);
      const whole = met.find((fault) => fault?.respond !== undefined);
      const right = async () => {
        const answers = await Promise.all(calls.map((call, at) => answer(call, met[at])));
        const given = answers.filter((each) => each !== null);
        return JSON.stringify(Array.isArray(body) ? given : (given[0] ?? ''));
      };
      if (whole?.respond !== undefined) return await whole.respond(response, right, calls.length);
      response.setHeader('content-type', 'application/json');
      response.end(await right());
    } catch {
      response.destroy();
    }
  });
  const sockets = webSocket ? serveSockets(server, target, { faultOf, answer, requests }) : null;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    faults,
    requests,
    inject,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets?.clients ?? []) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

/** The WebSocket of a node. What a fault does to a whole response, it does to a message. */
const serveSockets = (
  server: Server,
  target: string,
  node: {
    readonly faultOf: (call: Call) => NodeFault | undefined;
    readonly answer: (call: Call, fault: NodeFault | undefined) => Promise<Answer | null>;
    readonly requests: (readonly Call[])[];
  },
): WebSocketServer => {
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (client) => {
    client.on('error', () => client.terminate());
    /** Subscribes for the client, and passes on what is announced. */
    const subscribe = (sent: string): void => {
      const subscription = new WebSocket(target.replace('http', 'ws'));
      subscription.on('open', () => subscription.send(sent));
      subscription.on('error', () => client.terminate());
      subscription.on('close', () => client.terminate());
      subscription.on('message', (data) => {
        const message = JSON.parse(String(data)) as Call;
        if (message.method === 'eth_subscription' && node.faultOf(message) !== undefined) return;
        client.send(String(data));
      });
      client.on('close', () => subscription.terminate());
    };
    const receive = async (sent: string): Promise<void> => {
      const call = JSON.parse(sent) as Call;
      node.requests.push([call]);
      const fault = node.faultOf(call);
      if (fault === undefined && call.method === 'eth_subscribe') return subscribe(sent);
      const message = fault?.message?.(call) ?? JSON.stringify(await node.answer(call, fault));
      if (message === 'closes') client.terminate();
      else if (message !== 'silence') client.send(message);
    };
    client.on('message', (data) => {
      receive(String(data)).catch(() => client.terminate());
    });
  });
  return sockets;
};
