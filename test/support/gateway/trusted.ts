import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { AppOptions } from '../../../src/app.ts';
import { type EncodedAnswer, exchangeEncoded } from '../clients/encoded.ts';
import { folderOf } from '../folder.ts';
import { startGateway } from './start.ts';

export const idOf = (document: string): string => createHash('sha256').update(document).digest('hex');

/** The path of a GET of a trusted document. */
export const pathOf = (document: string, variables: object = {}): string =>
  `/graphql?documentId=${idOf(document)}&variables=${encodeURIComponent(JSON.stringify(variables))}`;

/** The content of a file of trusted documents. */
export const trustedFile = (documents: readonly string[]): string =>
  JSON.stringify(Object.fromEntries(documents.map((document) => [idOf(document), document])));

/** A gateway that runs these documents alone. */
export const startTrusting = async (
  documents: readonly string[],
  env: Record<string, string | undefined>,
  options: AppOptions = {},
) => {
  await using made = new AsyncDisposableStack();
  const folder = made.use(await folderOf({ 'trusted.json': trustedFile(documents) }));
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
    /** Writes the file anew, with this content or these documents, and has the gateway read it. */
    async rewrite(content: string | readonly string[]): Promise<void> {
      const text = typeof content === 'string' ? content : trustedFile(content);
      await writeFile(folder.path('trusted.json'), text);
      await gateway.reload();
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
};

export type Trusting = Awaited<ReturnType<typeof startTrusting>>;
