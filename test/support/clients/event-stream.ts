import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

/** A subscription as server-sent events over a connection of its own, once its first byte has come. */
export const listenToEvents = async (url: string, document: string, headers: Record<string, string> = {}) => {
  const query = encodeURIComponent(document);
  const sent = request(`${url}/graphql?query=${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
    agent: false,
  });
  sent.on('error', () => {});
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  const ended = new Promise<void>((resolve) => response.on('close', resolve));
  response.setEncoding('utf8').on('error', () => {});
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  return { response, text: () => text, ended, [Symbol.dispose]: () => void sent.destroy() };
};
