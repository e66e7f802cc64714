import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deliveriesOf, deliverUntilStored } from '../../support/clients/deliver.ts';
import { openRawSocket, type RawSocket, subscribeMessage } from '../../support/clients/raw-socket.ts';
import { eventually } from '../../support/clients/subscribe.ts';
import { describeEachInstallation, type Installation } from '../../support/gateway/installations.ts';
import { readersToBe } from '../../support/gateway/wait-for-readers.ts';
import { runs } from '../../support/runs.ts';

const FIELDS = ['cursor node { payload }', 'node { payload } cursor'];
const FILTERS = [undefined, { chainIds: [1] }, { chainIds: [2, 3] }];
const CHAINS = [1, 2, 3];

/** Two of three subscriptions with the same filter are equal. */
const SUBSCRIPTIONS = FILTERS.flatMap((filter) =>
  [0, 0, 1].map((fields) => ({ fields: FIELDS[fields] ?? '', filter })),
);

type Step =
  | { readonly do: 'post'; readonly chains: readonly number[] }
  | { readonly do: 'connect' | 'stall' | 'resume' | 'cut' | 'complete'; readonly client: number };

const client = fc.nat(SUBSCRIPTIONS.length - 1);
const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('post' as const),
      chains: fc.array(fc.constantFrom(...CHAINS), { minLength: 1, maxLength: 30 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('connect' as const), client }) },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constantFrom('stall', 'resume', 'cut', 'complete'), client }),
  },
);

type Message = {
  type: string;
  payload: { data: { deliveries: { cursor: string; node: { payload: { number: number } } } } };
};

/** A subscriber that resumes each new connection after the last cursor that it received, at any gateway. */
class Client {
  readonly numbers: number[] = [];
  readonly #subscription: (typeof SUBSCRIPTIONS)[number];
  readonly #gateways: Installation;
  #cursor: string;
  #connection: RawSocket | null = null;

  constructor(gateways: Installation, subscription: (typeof SUBSCRIPTIONS)[number], start: string) {
    this.#gateways = gateways;
    this.#subscription = subscription;
    this.#cursor = start;
  }

  matches(chain: number): boolean {
    return this.#subscription.filter?.chainIds.includes(chain) ?? true;
  }

  async connect(): Promise<void> {
    if (this.#connection !== null) return;
    let isOver = false;
    const connection = await openRawSocket(this.#gateways.any().url, (bytes) => {
      const { type, payload }: Message = JSON.parse(String(bytes));
      if (isOver || this.#connection !== connection) return;
      if (type !== 'next') throw new Error(`expected an event, got ${bytes}`);
      const { cursor, node } = payload.data.deliveries;
      this.numbers.push(node.payload.number);
      this.#cursor = cursor;
    });
    connection.socket.once('close', () => {
      isOver = true;
    });
    this.#connection = connection;
    const { fields, filter } = this.#subscription;
    const query = `subscription ($after: String, $filter: DeliveryFilter) { deliveries(after: $after, filter: $filter) { ${fields} } }`;
    connection.write(subscribeMessage(query, { after: this.#cursor, filter }));
  }

  stall = () => this.#connection?.stall();
  resume = () => this.#connection?.resume();

  /** Disconnects. Data in transit is lost, as when a browser closes a page. */
  cut(politely = false): void {
    if (politely) this.#connection?.socket.end();
    else this.#connection?.socket.resetAndDestroy();
    this.#connection = null;
  }
}

const runSteps = async (installation: Installation, steps: readonly Step[]): Promise<void> => {
  const { deliveryUrl, head } = await deliveriesOf(installation.any().url);
  const { pathname } = new URL(deliveryUrl);
  const posted: number[] = [];
  const clients = SUBSCRIPTIONS.map((subscription) => new Client(installation, subscription, head));
  try {
    for (const step of steps) {
      if (step.do === 'post') {
        for (const chainId of step.chains) {
          const number = posted.push(chainId) - 1;
          const body = { number, run: head };
          await deliverUntilStored(installation.any().url + pathname, { chainId, body });
        }
        continue;
      }
      const one = clients[step.client];
      if (step.do === 'connect') await one?.connect();
      else if (step.do === 'stall') one?.stall();
      else if (step.do === 'resume') one?.resume();
      else one?.cut(step.do === 'complete');
    }
    for (const one of clients) {
      await one.connect();
      one.resume();
    }
    for (const one of clients) {
      const expected = posted.flatMap((chain, number) => (one.matches(chain) ? [number] : []));
      await eventually(
        () => one.numbers.length >= expected.length,
        () => [one.numbers, expected],
      );
      expect(one.numbers).toEqual(expected);
    }
  } finally {
    for (const one of clients) one.cut();
  }
  for (const { url } of installation.gateways) await readersToBe(url, 0);
};

describeEachInstallation((install) => {
  test('however subscribers connect, stall and disconnect, each receives each of its events once, in order', async () => {
    await using installation = await install();
    const usual = installation.gateways.length > 1 ? 10 : 30;
    await fc.assert(
      fc.asyncProperty(fc.array(arbitraryStep, { minLength: 1, maxLength: 40, size: 'max' }), (steps) =>
        runSteps(installation, steps),
      ),
      { numRuns: runs(usual), endOnFailure: true },
    );
  });
});
