import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { CombinedProtocolErrors } from '@apollo/client/errors';
import { expect, test } from 'vitest';
import { deliver, deliveriesOf } from '../support/clients/deliver.ts';
import { eventually } from '../support/clients/subscribe.ts';
import { folderOf } from '../support/folder.ts';
import { freePort } from '../support/free-port.ts';
import { FRONTS, type Front, openFront } from '../support/gateway/fronts.ts';
import { nowhere, startGateway } from '../support/gateway/start.ts';
import { readersToBe } from '../support/gateway/wait-for-readers.ts';

/** Apollo Client with its HttpLink alone: `client.subscribe` speaks Apollo's multipart protocol. */

const DELIVERIES = gql`
  subscription ($after: String) {
    deliveries(after: $after) { cursor node { payload } }
  }
`;

type Data = { deliveries: { cursor: string; node: { payload: { number: number } } } };

const subscribeBy = ({ url, fetch }: Pick<Front, 'url' | 'fetch'>, after: string) => {
  const client = new ApolloClient({
    link: new HttpLink({ uri: `${url}/graphql`, fetch }),
    cache: new InMemoryCache(),
  });
  const seen = {
    numbers: [] as number[],
    cursors: [] as string[],
    failures: [] as unknown[],
    isComplete: false,
  };
  const subscription = client
    .subscribe<Data>({ query: DELIVERIES, variables: { after }, fetchPolicy: 'no-cache' })
    .subscribe({
      next: ({ data, error }) => {
        if (error) seen.failures.push(error);
        if (!data) return;
        seen.cursors.push(data.deliveries.cursor);
        seen.numbers.push(data.deliveries.node.payload.number);
      },
      error: (error: unknown) => void seen.failures.push(error),
      complete: () => {
        seen.isComplete = true;
      },
    });
  return Object.assign(seen, {
    [Symbol.dispose]() {
      subscription.unsubscribe();
      client.stop();
    },
  });
};

test.for(FRONTS)(
  'by %s, Apollo Client gets each event as it comes, and resumes at a cursor',
  async (name, context) => {
    await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
    const { deliveryUrl, head } = await deliveriesOf(gateway.url);
    await using front = await openFront(context, name, gateway.url);
    const post = async (...numbers: number[]) => {
      for (const number of numbers) expect(await deliver(deliveryUrl, { body: { number } })).toBe(200);
    };
    let last = '';
    {
      using first = subscribeBy(front, head);
      await readersToBe(gateway.url, 1);
      for (const number of [1, 2, 3]) {
        await post(number);
        await eventually(
          () => first.numbers.length === number,
          () => first,
        );
      }
      expect(first.numbers).toEqual([1, 2, 3]);
      expect(first.failures).toEqual([]);
      last = first.cursors[1] ?? '';
    }
    // The gateway learns that the client has left.
    await readersToBe(gateway.url, 0);
    await post(4);
    using second = subscribeBy(front, last);
    await post(5);
    await eventually(
      () => second.numbers.length === 3,
      () => second,
    );
    expect(second.numbers).toEqual([3, 4, 5]);
  },
);

test('an error that ends a subscription reaches Apollo Client with its code', async () => {
  await using gateway = await startGateway({ UPSTREAM_URL: nowhere });
  using seen = subscribeBy({ url: gateway.url, fetch }, 'nonsense');
  await eventually(
    () => seen.isComplete,
    () => seen,
  );
  expect(seen.numbers).toEqual([]);
  expect(seen.failures).toHaveLength(1);
  expect(CombinedProtocolErrors.is(seen.failures[0]) && seen.failures[0].errors).toMatchObject([
    { extensions: { code: 'INVALID_CURSOR' } },
  ]);
});

test('a gateway that stops ends the response early: Apollo Client says so, and misses nothing when it subscribes again', async () => {
  await using folder = await folderOf({});
  const env = { UPSTREAM_URL: nowhere, DATA_DIR: folder.path('data'), PORT: String(await freePort()) };
  let last: string;
  {
    await using gateway = await startGateway(env);
    const { deliveryUrl, head } = await deliveriesOf(gateway.url);
    using first = subscribeBy({ url: gateway.url, fetch }, head);
    await deliver(deliveryUrl, { body: { number: 1 } });
    await eventually(() => first.numbers.length === 1);
    await gateway[Symbol.asyncDispose]();
    await eventually(
      () => first.isComplete,
      () => first,
    );
    expect(first.failures).toHaveLength(1);
    expect(CombinedProtocolErrors.is(first.failures[0])).toBe(false);
    last = first.cursors[0] ?? '';
  }
  await using gateway = await startGateway(env);
  const { deliveryUrl } = await deliveriesOf(gateway.url);
  await deliver(deliveryUrl, { body: { number: 2 } });
  using second = subscribeBy({ url: gateway.url, fetch }, last);
  await deliver(deliveryUrl, { body: { number: 3 } });
  await eventually(
    () => second.numbers.length === 2,
    () => second,
  );
  expect(second.numbers).toEqual([2, 3]);
});
