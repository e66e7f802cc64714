import { AsyncLocalStorage } from 'node:async_hooks';

/** Names the client that a gateway asks for, to the service that it embeds. The name reveals nothing. */
export const CLIENT_HEADER = 'x-asking-client';

const clients = new AsyncLocalStorage<string>();

/** Answers a request for a client; null where none is named. */
export const answerFor = <Result>(client: string | null, answer: () => Result): Result =>
  client === null ? answer() : clients.run(client.slice(0, 64), answer);

/** The client that is being answered; null where none is named. */
export const askingClient = (): string | null => clients.getStore() ?? null;
