import { createHash } from 'node:crypto';
import type { AppOptions } from '../../../src/app.ts';
import { type EncodedAnswer, exchangeEncoded } from '../clients/encoded.ts';
import { folderOf } from '../folder.ts';
import { startGateway } from './start.ts';

export const idOf = (document: string): string => createHash('sha256').update(document).digest('hex');

/** The path of a GET of a trusted document. */
export const pathOf = (document: string, variables: object = {}): string =>
  `/graphql?documentId=${idOf(document)}&variables=${encodeURIComponent(JSON.stringify(variables))}`;

/** A gateway that runs these documents alone. */
export const startTrusting = async (
  documents: readonly string[],
  env: Record<string, string | undefined>,
  options: AppOptions = {},
) => {
  await using made = new AsyncDisposableStack();
  const entries = documents.map((document) => [idOf(document), document]);
  const folder = made.use(await folderOf({ 'trusted.json': JSON.stringify(Object.fromEntries(entries)) }));
  const trusted = { TRUSTED_DOCUMENTS: folder.path('trusted.json') };
  const gateway = made.use(await startGateway({ ...trusted, ...env }, options));
  const running = made.move();
  return {
    ...gateway,
    /** Asks by GET, as a client that has no cache of its own. */
    get: (
      document: string,
      variables: object = {},
      headers: Readonly<Record<string, string>> = {},
    ): Promise<EncodedAnswer> => exchangeEncoded(gateway.url + pathOf(document, variables), 'GET', headers),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

export type Trusting = Awaited<ReturnType<typeof startTrusting>>;
