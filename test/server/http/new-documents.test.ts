import { expect, test } from 'vitest';
import { createTestClock } from '../../support/gateway/clock.ts';
import { codesOf, nowhere, startGateway } from '../../support/gateway/start.ts';

/** The most tokens that a text counts for if it can't be parsed. */
const MOST_TOKENS = 2000;
const TOKENS_A_MINUTE = 200_000;

const NEW = [
  ['that can not be parsed', (number: number) => `{ a${number} ${'a'.repeat(4 * MOST_TOKENS)}`],
  ['that is invalid', (number: number) => `{ a${number} ${' a'.repeat(MOST_TOKENS - 4)} }`],
] as const;

test.each(NEW)('a new document %s counts once, whichever way it is answered', async (_what, textOf) => {
  const accepted = await Promise.all(
    (['fast', 'plain'] as const).map(async (readPath) => {
      await using gateway = await startGateway({ UPSTREAM_URL: nowhere }, { ...createTestClock(), readPath });
      for (let number = 0; ; number += 1)
        if (codesOf(await gateway.query(textOf(number))).includes('RATE_LIMITED')) return number;
    }),
  );
  expect(accepted[0]).toBe(accepted[1]);
  expect(accepted[0]).toBeGreaterThanOrEqual(TOKENS_A_MINUTE / MOST_TOKENS - 2);
});
