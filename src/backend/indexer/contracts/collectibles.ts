import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { methodOf } from '../../evm/abi.ts';
import { createValueReader } from '../../evm/abi-values.ts';
import { CONTROL } from '../../node/calls.ts';
import type { EvmNode } from '../../node/node.ts';
import type { Holding, NftMetadata } from '../../source.ts';
import type { Hex } from '../../types.ts';
import { amountBytes, bytesOf } from '../blocks/encoding.ts';
import {
  type Content,
  type Document,
  dataOf,
  documentOf,
  parseDocument,
  pictureUrl,
  publicUrl,
  withId,
} from './collectible-document.ts';
import { createFetcher, type Fetcher } from './fetch.ts';
import { createIpfsGateway, type IpfsGateway } from './ipfs-gateway.ts';

type CollectiblesOptions = {
  /** The file of the index. The metadata has a table of its own in it. */
  readonly database: DatabaseSync;
  /** A node of each chain. */
  readonly nodes: ReadonlyMap<number, Pick<EvmNode, 'calls' | 'head'>>;
  /** Where `ipfs:` URLs are read from, without a trailing slash. */
  readonly ipfsGateway: string;
  /** The clock, in milliseconds since 1970. Default: the system's clock. */
  readonly now?: () => number;
};

/** An NFT whose metadata is wanted. */
type Wanted = Pick<Holding, 'contract' | 'standard' | 'tokenId'> & { readonly chainId: number };

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS documents (
    chain INTEGER NOT NULL,
    contract BLOB NOT NULL,
    token_id BLOB NOT NULL,
    uri TEXT,
    name TEXT,
    description TEXT,
    image TEXT,
    attributes TEXT NOT NULL,
    -- The newest block when the contract was asked: what it said may be gone with that.
    block INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    -- From when on it is fetched again if it is looked up, in milliseconds since 1970.
    due INTEGER NOT NULL,
    PRIMARY KEY (chain, contract, token_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS documents_by_block ON documents (chain, block)`;

const DAY_MS = 24 * 3_600_000;
/** What could not be fetched is tried again after ten minutes, forty, and so on up to a week. */
const FIRST_PAUSE_MS = 600_000;
const MAX_PAUSE_MS = 7 * DAY_MS;
/** What the node failed to say is asked again after this time. */
const NODE_PAUSE_MS = 10_000;
/** Documents change, such as when what was bought unseen is revealed. */
const FRESH_MS = DAY_MS;

/** NFTs that wait to be fetched. Those beyond are fetched when they are looked up again. */
const MAX_WAITING = 5_000;
const BATCH = 8;
const BATCHES_AT_ONCE = 4;

const MAX_DOCUMENT_BYTES = 256 * 1024;
const TIMEOUT_MS = 10_000;

const TOKEN_URI = methodOf('tokenURI', [{ type: 'uint256' }]).selector;
const ID_URI = methodOf('uri', [{ type: 'uint256' }]).selector;
const readText = createValueReader([{ type: 'string' }]);

const callOf = ({ contract, standard, tokenId }: Wanted) => {
  const word = tokenId.toString(16).padStart(64, '0');
  const data: Hex = `${standard === 'erc721' ? TOKEN_URI : ID_URI}${word}`;
  return { to: contract, data };
};

const keyOf = ({ chainId, contract, tokenId }: Omit<Wanted, 'standard'>) =>
  [chainId, bytesOf(contract), amountBytes(tokenId)] as const;

const nameOf = ({ chainId, contract, tokenId }: Wanted) => `${chainId}/${contract}/${tokenId}`;

/**
 * The metadata of NFTs, fetched when somebody looks at them, and kept. Whoever asks gets what is known and never waits: the
 * addresses that strangers name may answer slowly, wrongly or not at all.
 */
export class Collectibles {
  readonly #options: Required<CollectiblesOptions>;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #gateway: IpfsGateway;
  readonly #fetcher: Fetcher;
  readonly #waiting = new Map<string, Wanted>();
  /** By their names, so that none is fetched twice at a time. */
  readonly #fetching = new Set<string>();
  readonly #batches = new Set<Promise<void>>();
  #isStopped = false;

  constructor(options: CollectiblesOptions) {
    this.#options = { now: Date.now, ...options };
    options.database.exec(SCHEMA);
    this.#statements = prepare(options.database);
    this.#gateway = createIpfsGateway(options.ipfsGateway);
    this.#fetcher = createFetcher({
      maxBytes: MAX_DOCUMENT_BYTES,
      timeoutMs: TIMEOUT_MS,
      publicOnly: true,
      own: this.#gateway,
    });
  }

  /** What is known of an NFT; null for nothing. It is fetched in the background, unless that was tried recently. */
  metadata(wanted: Wanted): NftMetadata | null {
    const row = this.#statements.find.get(...keyOf(wanted));
    if (row === undefined || Number(row.due) <= this.#options.now()) this.#want(wanted);
    return row === undefined ? null : this.#metadataOf(row);
  }

  /** Forgets what contracts said at a block from this number on. */
  forget(chainId: number, fromBlock: number): void {
    this.#statements.forget.run(chainId, fromBlock);
  }

  /** Gives up what is being fetched. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#fetcher.close();
    await Promise.all(this.#batches);
  }

  #metadataOf({
    uri,
    name,
    description,
    image,
    attributes,
  }: Record<string, SQLOutputValue>): NftMetadata | null {
    const known = {
      name: textOrNull(name),
      description: textOrNull(description),
      imageUrl: this.#urlOf(textOrNull(image)),
      uri: shownUri(textOrNull(uri)),
      attributes: JSON.parse(String(attributes)) as NftMetadata['attributes'],
    };
    return known.name === null && known.uri === null && known.imageUrl === null ? null : known;
  }

  /** A URL that clients can load: they may not know an IPFS gateway. */
  #urlOf(image: string | null): string | null {
    if (image === null || isPicture(image)) return image;
    // A gateway with credentials is for the service alone.
    if (/^ipfs:/i.test(image) && this.#gateway.credentials !== null) return image;
    return (this.#gateway.contentOf(image) ?? publicUrl(image))?.href ?? null;
  }

  #want(wanted: Wanted): void {
    const name = nameOf(wanted);
    if (this.#isStopped || this.#fetching.has(name) || this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.set(name, wanted);
    this.#fetchMore();
  }

  #fetchMore(): void {
    while (!this.#isStopped && this.#waiting.size > 0 && this.#batches.size < BATCHES_AT_ONCE) {
      const batch = this.#fetchBatch(this.#nextBatch()).finally(() => {
        this.#batches.delete(batch);
        this.#fetchMore();
      });
      this.#batches.add(batch);
    }
  }

  /** Some NFTs of one chain. */
  #nextBatch(): readonly Wanted[] {
    const [first] = this.#waiting.values();
    const batch = [
      ...this.#waiting
        .values()
        .filter(({ chainId }) => chainId === first?.chainId)
        .take(BATCH),
    ];
    for (const wanted of batch) {
      this.#waiting.delete(nameOf(wanted));
      this.#fetching.add(nameOf(wanted));
    }
    return batch;
  }

  async #fetchBatch(batch: readonly Wanted[]): Promise<void> {
    try {
      const node = this.#options.nodes.get(batch[0]?.chainId ?? 0);
      if (node === undefined) return;
      const { number } = await node.head();
      // A contract that the node can't ask, although it answers another call, says nothing.
      const isWell = () => Promise.all(node.calls([CONTROL])).then(() => null);
      const answers = node.calls(batch.map(callOf)).map((answer) => answer.catch(isWell));
      await Promise.all(
        batch.map(async (wanted, at) => {
          const answer = await answers[at]?.catch(() => undefined);
          if (answer === undefined) this.#postpone(wanted, number);
          else await this.#fetchOne(wanted, answer, number);
        }),
      );
    } catch {
      // The node's problem, or the disk's, which others report. They are fetched when they are looked up again.
    } finally {
      for (const wanted of batch) this.#fetching.delete(nameOf(wanted));
    }
  }

  async #fetchOne(wanted: Wanted, answer: Hex | null, block: number): Promise<void> {
    const [text] = (answer === null ? null : readText(answer)) ?? [];
    const given = typeof text === 'string' && text !== '' ? text : null;
    const uriOf = (template: string) =>
      wanted.standard === 'erc1155' ? withId(template, wanted.tokenId) : template;
    const uri = given === null ? null : uriOf(given);
    const document = uri === null ? null : await this.#document(uri).catch(() => null);
    const image = document === null || document.image === null ? null : uriOf(document.image);
    if (!this.#isStopped) this.#keep(wanted, uri, document && { ...document, image }, block);
  }

  /** Contracts are to answer with the URI of a document. Some answer with the document, with a picture or with its URI. */
  async #document(uri: string): Promise<Document | null> {
    if (uri.trimStart().startsWith('{')) return parseDocument(uri);
    const picture = pictureUrl(uri);
    if (isPicture(picture)) return documentOf(picture);
    const data = await dataOf(uri);
    if (data === null) return this.#fetched(uri);
    try {
      return read(data, uri);
    } catch (problem) {
      // A `#` begins a fragment, which is no part of the data, but many contracts do not encode it.
      const whole = uri.includes('#') ? await dataOf(uri.replaceAll('#', '%23')) : null;
      if (whole === null) throw problem;
      return read(whole, uri);
    }
  }

  async #fetched(uri: string): Promise<Document | null> {
    if (uri.length > MAX_URI) return null;
    const content = this.#gateway.contentOf(uri);
    const url = content ?? publicUrl(uri);
    return url === null ? null : read(await this.#fetcher.get(url, content !== null), uri);
  }

  /** The node has not said what the contract answers: nothing is known of it, and it is asked again soon. */
  #postpone(wanted: Wanted, block: number): void {
    if (this.#isStopped) return;
    const key = keyOf(wanted);
    const failures = Number(this.#statements.find.get(...key)?.failures ?? 0);
    this.#statements.fail.run(...key, null, block, failures, this.#options.now() + NODE_PAUSE_MS);
  }

  /** What was fetched before stays when it can't be fetched again. */
  #keep(wanted: Wanted, uri: string | null, document: Document | null, block: number): void {
    const now = this.#options.now();
    const key = keyOf(wanted);
    if (document === null) {
      const failures = Number(this.#statements.find.get(...key)?.failures ?? 0);
      const due = now + Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 4 ** failures);
      this.#statements.fail.run(...key, kept(uri), block, failures + 1, due);
      return;
    }
    const { name, description, image, attributes } = document;
    const picture = image !== null && isPicture(image) ? image : kept(image);
    const parts = [kept(uri), name, description, picture, JSON.stringify(attributes)];
    this.#statements.keep.run(...key, ...parts, block, now + FRESH_MS);
  }
}

/** @throws when the content is neither a picture nor a document. */
const read = ({ type, body }: Content, uri: string): Document =>
  type.startsWith('image/') ? documentOf(uri) : parseDocument(body.toString());

const MAX_URI = 2_048;
/** A page may have hundreds. */
const MAX_PICTURE = 4_096;

/** Whether a URL contains a small picture, such as one that a contract draws. */
const isPicture = (image: string): boolean =>
  image.length <= MAX_PICTURE && /^data:image\/(?:svg\+xml|png|gif|jpeg|webp)[;,]/i.test(image);

/** A URI, unless it contains what it names. */
const kept = (uri: string | null): string | null =>
  uri === null || uri.length > MAX_URI || !/^(?!data:)[a-z][a-z0-9+.-]*:/i.test(uri) ? null : uri;

/** A URI that is safe to link to, since clients may turn it into a link. */
const shownUri = (uri: string | null): string | null =>
  uri !== null && /^(https?|ipfs|ar):\/\/[^\s\p{C}]+$/iu.test(uri) ? uri : null;

const textOrNull = (value: SQLOutputValue | undefined): string | null =>
  typeof value === 'string' ? value : null;

const prepare = (database: DatabaseSync) => ({
  find: database.prepare('SELECT * FROM documents WHERE chain = ? AND contract = ? AND token_id = ?'),
  keep: database.prepare(
    `INSERT OR REPLACE INTO documents
       (chain, contract, token_id, uri, name, description, image, attributes, block, failures, due)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`,
  ),
  fail: database.prepare(
    `INSERT INTO documents (chain, contract, token_id, uri, attributes, block, failures, due)
     VALUES (?, ?, ?, ?, '[]', ?, ?, ?)
     ON CONFLICT DO UPDATE SET failures = excluded.failures, due = excluded.due`,
  ),
  forget: database.prepare('DELETE FROM documents WHERE chain = ? AND block >= ?'),
});
