import { request } from 'node:http';
import { text } from 'node:stream/consumers';

/**
 * Posts an operation from an address of this machine, such as 127.0.0.2, and gives the text of the answer. Without credentials, each
 * address is a client of its own.
 */
export const postFrom = async (
  localAddress: string,
  url: string,
  operation: { readonly query: string; readonly variables?: object },
  more: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { 'content-type': 'application/json', ...more };
  request(`${url}/graphql`, { method: 'POST', localAddress, headers }, (response) => {
    text(response).then(resolve, reject);
  })
    .on('error', reject)
    .end(JSON.stringify(operation));
  return promise;
};
