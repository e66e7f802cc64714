import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoAddress } from '../../src/backend/sandbox/chain/wallet-profiles.ts';
import { type OpenSandbox, openSandbox } from '../backend/support/sandbox.ts';
import { said, startBendingProxy } from './support/bending-proxy.ts';
import { judge, remarks } from './support/judge.ts';

/** One suite judges every source of the service, and any other server. */

let sandbox: OpenSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox.stop());

test('the sandbox keeps the contract in every point', async () => {
  expect(remarks(await judge({ url: sandbox.url }))).toEqual([
    // The contract has texts and lists of texts; real services nest lists, and so does the sandbox.
    expect.stringMatching(
      /^note: .* decodes calls and events .*inputs\[\]\.value: expected a text, or a list of texts/,
    ),
  ]);
});

/** Wallets with items that the accounts which are judged by default have none of. */
const OTHERS = [
  'caller',
  'enigma',
  'burner',
  'approver',
  'unpriced',
  'editions',
  'deployer',
  'unlucky',
  'payer',
];

test.each(OTHERS)('what the sandbox says of the wallet %s keeps the contract', async (name) => {
  const lists = /evm\/(?:transactions|activity|collectibles|balances)\/\{address\}$/;
  const results = await judge({
    url: sandbox.url,
    wallets: [demoAddress(name)],
    webhooks: false,
    only: ({ operation, expects }) =>
      lists.test(operation) && /^(?:has the doc|values|has each)/.test(expects),
  });
  expect(remarks(results.filter(({ status }) => status !== 'skipped'))).toEqual([]);
  expect(results.some(({ status }) => status === 'ok')).toBe(true);
});

/** A list that is walked through in ten requests or fewer has one new block on its way. */
const REQUESTS_A_BLOCK = 10;
/** In as many blocks something happens to a busy wallet. */
const BLOCKS_A_TEST = 20;

test('blocks that come while it is judged make no difference, and are delivered', async () => {
  await using sandbox = await openSandbox();
  await using proxy = await startBendingProxy(sandbox.url);
  // Requests make the blocks, so that as many come on a busy machine. The events are those of blocks.
  let requests = 0;
  const tick = (blocks: number) => {
    for (let block = 0; block < blocks; block += 1) sandbox.tick();
  };
  proxy.bend({
    request({ path }) {
      const isTest = path.endsWith('/test');
      requests += 1;
      if (isTest || requests % REQUESTS_A_BLOCK === 0) tick(isTest ? BLOCKS_A_TEST : 1);
      return isTest ? said(404, 'Not found') : undefined;
    },
  });
  const results = await judge({ url: proxy.url });
  expect(remarks(results).filter((remark) => !remark.startsWith('note'))).toEqual([]);
});
