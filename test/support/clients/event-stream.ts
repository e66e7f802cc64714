import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** Subscribes by server-sent events over a connection of its own. Resolves when the response has begun. */
export const listenToEvents = async (url: string, document: string, headers: Record<string, string> = {}) => {
  const query = encodeURIComponent(document);
  const outgoing = request(`${url}/graphql?query=${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
    agent: false,
  });
  outgoing.on('error', () => {});
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  let text = '';
  const ended = new Promise<void>((resolve) => response.on('close', resolve));
  response.setEncoding('utf8').on('error', () => {});
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  return { response, text: () => text, ended, [Symbol.dispose]: () => void outgoing.destroy() };
};
