import { readFile } from 'node:fs/promises';
import { ConfigError } from '../config/config.ts';
import { messageOf } from '../deliveries/log/errors.ts';
import { schema } from '../schema.ts';
import {
  readTrustedDocuments,
  type TrustedDocuments,
  TrustedDocumentsError,
} from '../server/graphql/trusted-documents.ts';

/**
 * Reads the file of trusted documents at `path`; null where there is none. Rejects with ConfigError where the file can't
 * be read, or a document in it could not run.
 */
export const loadTrustedDocuments = async (path: string | null): Promise<TrustedDocuments | null> => {
  if (path === null) return null;
  const json = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigError([`TRUSTED_DOCUMENTS: ${messageOf(error)}`]);
  });
  try {
    return readTrustedDocuments(json, schema);
  } catch (error) {
    if (!(error instanceof TrustedDocumentsError)) throw error;
    throw new ConfigError(error.problems.map((problem) => `TRUSTED_DOCUMENTS: ${problem}`));
  }
};
