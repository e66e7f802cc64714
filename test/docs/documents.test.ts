import { parse, validate } from 'graphql';
import { expect, test } from 'vitest';
import { schema } from '../../src/schema.ts';
import { blocksOf, type Page, readPages } from '../support/pages.ts';

const pages = await readPages();

/** The documents of a page: its `graphql` blocks, and those inside of its other blocks. */
const documentsOf = (page: Page): readonly string[] => [
  ...blocksOf(page, 'graphql'),
  ...blocksOf(page, 'sh').flatMap((block) =>
    // Another body is a call of a node.
    [...block.matchAll(/-d '(\{[\s\S]*?\})'/g)].flatMap(
      ([, body = '']): string[] => JSON.parse(body).query ?? [],
    ),
  ),
  ...blocksOf(page, 'ts').flatMap((block) =>
    [...block.matchAll(/`\s*((?:query|mutation|subscription)\b[^`]*)`/g)].map(
      ([, document = '']) => document,
    ),
  ),
];

test('the documents of README.md and docs/ are of this schema', () => {
  const documents = pages.flatMap(documentsOf);
  expect(documents.length).toBeGreaterThan(10);
  expect(documents.flatMap((document) => validate(schema, parse(document)))).toEqual([]);
});
