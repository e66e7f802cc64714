import { expect, test } from 'vitest';
import { createOpenDocuments } from '../../src/server/subscriptions/open-documents.ts';

/** What open subscriptions of one client may keep: 50,000 tokens of documents. */

const opening = (name: string, tokens = 20_000) => ({ client: 'a', document: name, tokens, key: name });

test('a subscription that is closed twice, as streams that end by an error are, gives back its own tokens alone', () => {
  const documents = createOpenDocuments();
  const closeFirst = documents.open(opening('first'));
  closeFirst();
  documents.open(opening('second'));
  closeFirst();
  documents.open(opening('third'));
  expect(() => documents.open(opening('fourth'))).toThrow('at most 50000 tokens of a client');
});
