import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Call = {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
};

type Answer = Readonly<Record<string, unknown>>;

/** What is in the way of a node. Each is passed on as it is by default. */
type Faults = {
  /** Answers a call in place of the node, which `ask` asks. */
  call?: ((call: Call, ask: () => Promise<Answer>) => Answer | Promise<Answer>) | undefined;
  /** Answers a request, with one or several calls, and returns true; or returns false. */
  request?: ((calls: readonly Call[], response: ServerResponse) => boolean | Promise<boolean>) | undefined;
};

/** A node over HTTP that passes calls on to another one, one by one, with faults that a test injects. It has no WebSocket. */
export const startFaultyNode = async (target: string) => {
  const faults: Faults = {};
  /** The calls of each request. */
  const requests: (readonly Call[])[] = [];

  const ask = async (call: Call): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(target, { method: 'POST', headers, body: JSON.stringify(call) });
    return { ...(JSON.parse(await response.text()) as Answer) };
  };
  const answer = async (call: Call): Promise<Answer> => ({
    jsonrpc: '2.0',
    id: call.id,
    ...(await (faults.call?.(call, () => ask(call)) ?? ask(call))),
  });

  const server = createServer(async (request, response) => {
    try {
      const body: unknown = JSON.parse(await text(request));
      const calls = (Array.isArray(body) ? body : [body]) as readonly Call[];
      requests.push(calls);
      if ((await faults.request?.(calls, response)) === true) return;
      const answers = await Promise.all(calls.map(answer));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    } catch {
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    faults,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
