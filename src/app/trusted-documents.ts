import { readFile } from 'node:fs/promises';
import { ConfigError } from '../config/config.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { schema } from '../schema.ts';
import {
  createTrustedDocuments,
  type DocumentTexts,
  readTrustedDocuments,
  type TrustedDocuments,
  TrustedDocumentsError,
} from '../server/graphql/trusted-documents.ts';

/** Makes more of the documents than the gateway needs of them. Rejects with ConfigError where that fails. */
type Accept = (texts: DocumentTexts) => Promise<void>;

/**
 * Reads the file of TRUSTED_DOCUMENTS. Rejects with ConfigError when it can't be read, one of its documents is invalid, or
 * they are not accepted.
 */
export const readTrustedFile = async (path: string, accept?: Accept): Promise<DocumentTexts> => {
  const json = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new ConfigError([`TRUSTED_DOCUMENTS: ${messageOf(error)}`]);
  });
  const texts = await readTrustedDocuments(json, schema).catch((error: unknown) => {
    if (!(error instanceof TrustedDocumentsError)) throw error;
    throw new ConfigError(error.problems.map((problem) => `TRUSTED_DOCUMENTS: ${problem}`));
  });
  await accept?.(texts);
  return texts;
};

type TrustedFile = {
  readonly documents: TrustedDocuments;
  /** Reads the file again. An invalid one changes nothing, and its problems are logged. Never rejects. */
  reload(): Promise<void>;
};

/** Problems of an invalid file that a line of the log has. Each document can have 20. */
const MAX_LOGGED_PROBLEMS = 20;

/** Opens the file of TRUSTED_DOCUMENTS. Rejects as `readTrustedFile`. */
export const openTrustedFile = async (path: string, log: Log, accept?: Accept): Promise<TrustedFile> => {
  const { documents, replace } = createTrustedDocuments(await readTrustedFile(path, accept));
  log.info('trusted documents read', { documents: documents.texts().size });

  const reload = async (): Promise<void> => {
    const before = documents.texts();
    try {
      const texts = await readTrustedFile(path, accept);
      replace(texts);
      const [added, removed] = [missingIn(before, texts), missingIn(texts, before)];
      log.info('trusted documents reloaded', { documents: texts.size, added, removed });
    } catch (error) {
      const problems = error instanceof ConfigError ? error.problems : [messageOf(error)];
      const more = problems.length - MAX_LOGGED_PROBLEMS;
      log.error('trusted documents not reloaded, those of before still run', {
        documents: before.size,
        problems: problems.slice(0, MAX_LOGGED_PROBLEMS),
        ...(more > 0 && { moreProblems: more }),
      });
    }
  };
  // One after the other, so that what was read last runs.
  let last = Promise.resolve();
  return {
    documents,
    reload() {
      last = last.then(reload);
      return last;
    },
  };
};

/** Counts the documents of `texts` that `others` lack. */
const missingIn = (others: DocumentTexts, texts: DocumentTexts): number =>
  [...texts.keys()].filter((hash) => !others.has(hash)).length;
