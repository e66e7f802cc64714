import { expecting, type Finding, membersOf, Skipped } from '../finding.ts';
import { bodyOf, type Judged, type Point, refusal, summary } from '../point.ts';
import { type Answer, nameOf, type Operation } from '../service.ts';
import { listAddresses, type OwnWebhooks, replaceAddresses, updateAddresses } from '../webhooks.ts';

/** What the points on webhooks have in common, and those on their addresses. */

export const SOURCES = {
  update: 'specification: Update webhook',
  addresses: 'specification: Update webhook addresses',
};
export const MANAGEMENT = 'documentation: Webhook management';

type Check = (judged: Judged, own: OwnWebhooks) => Promise<readonly Finding[]>;

export const point = (operation: Operation, expects: string, source: string, check: Check): Point => ({
  operation: nameOf(operation),
  expects,
  source,
  check: async (judged) => {
    if (judged.own === null) throw new Skipped('it writes: --webhooks allows that');
    return check(judged, judged.own);
  },
});

export const at = (webhookId: string) => ({ path: { webhookId } });

export const noBody = (answer: Answer): readonly Finding[] => [
  ...expecting(answer.status >= 200 && answer.status < 300, '200', summary(answer)),
  ...expecting(answer.text === '', 'no body', answer.text, 'note'),
];

/** One segment is a digit short. */
const MALFORMED = '123e4567-e89b-12d3-a456-42661417400';

export const namesMalformedId = (operation: Operation, source: string): Point =>
  point(operation, 'names a webhook id that is no UUID', source, async ({ service }) => {
    const answer = await service.ask(operation, {
      ...at(MALFORMED),
      ...(operation.method !== 'GET' && { body: {} }),
    });
    return [
      ...refusal(answer, 400, 'text'),
      ...expecting(answer.text.includes('UUID parsing failed'), 'UUID parsing failed: …', summary(answer)),
      ...expecting(
        answer.text.includes('group length'),
        'a complaint about the length of a group',
        summary(answer),
        'note',
      ),
    ];
  });

const addressesOf = async ({ service }: Judged, id: string): Promise<readonly string[]> => {
  const { addresses } = membersOf(bodyOf(await service.ask(listAddresses, { ...at(id), again: true })));
  return Array.isArray(addresses) ? addresses.map((each) => String(each).toLowerCase()) : [];
};

const otherAddress = (number: number): string => `0x${number.toString(16).padStart(40, 'c0ffee')}`;

/** The points on the addresses of a webhook. */
export const addressPoints: readonly Point[] = [
  point(listAddresses, 'lists the addresses in pages', MANAGEMENT, async (judged, own) => {
    const { id } = await own.of('balances');
    const answer = await judged.service.ask(replaceAddresses, {
      ...at(id),
      body: { addresses: [1, 2, 3].map(otherAddress) },
    });
    const pages: string[] = [];
    let offset = '';
    do {
      const query = { limit: '2', ...(offset !== '' && { offset }) };
      const asked = { ...at(id), query, again: true };
      const body = membersOf(bodyOf(await judged.service.ask(listAddresses, asked)));
      const page = Array.isArray(body.addresses) ? body.addresses : [];
      pages.push(page.map((each) => String(each).toLowerCase()).join());
      offset = String(body.next_offset ?? '');
    } while (offset !== '' && pages.length < 4);
    const found = pages.join().split(',').toSorted().join();
    return [
      ...noBody(answer),
      ...expecting(found === [1, 2, 3].map(otherAddress).join(), 'each of 3 addresses once', pages),
      ...expecting(pages.length === 2, '2 pages of 2', `${pages.length}`, 'note'),
    ];
  }),
  point(replaceAddresses, 'replaces all addresses', MANAGEMENT, async (judged, own) => {
    const { id } = await own.of('balances');
    const answer = await judged.service.ask(replaceAddresses, {
      ...at(id),
      body: { addresses: [otherAddress(9)] },
    });
    const found = await addressesOf(judged, id);
    return [...noBody(answer), ...expecting(found.join() === otherAddress(9), otherAddress(9), found)];
  }),
  point(
    updateAddresses,
    'removes first, then adds, and has no body',
    SOURCES.addresses,
    async (judged, own) => {
      const { id } = await own.of('balances');
      const [one, two, three] = [1, 2, 3].map(otherAddress);
      await judged.service.ask(replaceAddresses, { ...at(id), body: { addresses: [one, two] } });
      const body = { add_addresses: [two, three], remove_addresses: [one, two] };
      const answer = await judged.service.ask(updateAddresses, { ...at(id), body });
      const found = (await addressesOf(judged, id)).toSorted();
      return [
        ...noBody(answer),
        ...expecting(found.join() === [two, three].join(), `${two}, ${three}`, found),
      ];
    },
  ),
  point(
    updateAddresses,
    'loses no addresses of concurrent requests',
    SOURCES.addresses,
    async (judged, own) => {
      const { id } = await own.of('balances');
      const added = [11, 12, 13, 14].map(otherAddress);
      await judged.service.ask(replaceAddresses, { ...at(id), body: { addresses: [] } });
      await Promise.all(
        added.map((address) =>
          judged.service.ask(updateAddresses, { ...at(id), body: { add_addresses: [address] } }),
        ),
      );
      const found = await addressesOf(judged, id);
      return expecting(
        added.every((each) => found.includes(each)),
        'all 4',
        found,
      );
    },
  ),
  namesMalformedId(updateAddresses, SOURCES.addresses),
];
