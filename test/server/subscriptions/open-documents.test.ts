import { expect, test } from 'vitest';
import { OpenDocuments } from '../../../src/server/subscriptions/shared-execution.ts';

/** The documents of one client's open subscriptions have at most 50,000 tokens. */

const opening = (name: string, tokens = 20_000) => ({ client: 'a', document: name, tokens, key: name });

test('a subscription that is closed twice, as a stream that ends by an error is, releases its own tokens only', () => {
  const documents = new OpenDocuments();
  const first = documents.open(opening('first'));
  first.close();
  documents.open(opening('second'));
  first.close();
  documents.open(opening('third'));
  expect(() => documents.open(opening('fourth'))).toThrow('at most 50000 tokens of a client');
});
