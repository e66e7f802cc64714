import { createHash, createHmac } from 'node:crypto';
import { type DocumentNode, getOperationAST } from 'graphql';
import { LRUCache } from 'lru-cache';
import { atMostEntries, rememberEach } from '../../lib/memo.ts';
import type { TrustedDocuments } from './trusted-documents.ts';

/**
 * Who sent an operation, and which one it is, in words that the gateway chooses. Clients write their names and those of
 * their operations themselves, so a name that no list has becomes `other`.
 */

/** What all metrics, log lines and spans of an operation say. Equal attributions are the same object. */
export type Attribution = {
  /** One of CLIENT_NAMES, or `other`. */
  readonly client: string;
  /** The name of a trusted document's operation or one of OPERATION_LABELS, or `other`. */
  readonly operation: string;
  /** The first 12 hex digits of a trusted document's SHA-256, or `other`. */
  readonly document: string;
};

/** Who sent an operation, and which one it is. */
export type Attributed = {
  readonly attribution: Attribution;
  readonly clientVersion: string | null;
  /** A keyed hash of its tenant; null if that is unknown, or not to be told. */
  readonly tenant: string | null;
};

/** A client as it names itself. A connection is that of one client. */
export type ClientName = {
  readonly name: string;
  /** As the client writes it, if it looks like one; always null for the client `other`. */
  readonly version: string | null;
};

/** What clients name themselves by, with names in lower case: the headers of a request, or the payload of `connection_init`. */
type ClientFields = Readonly<Record<string, unknown>>;

export type Attribute = {
  /** Returns null if the fields name no client. */
  clientIn(fields: ClientFields): ClientName | null;
  /** `document` is null for an operation that was rejected before its document was known. */
  of(
    client: ClientName,
    document: DocumentNode | null,
    operationName: string | null | undefined,
  ): Attribution;
  /** Returns a keyed hash of a tenant's name; null where TENANT_METRICS is off. */
  tenantOf(tenant: string): string | null;
};

type Options = {
  readonly clientNames: readonly string[];
  /** The operations that have a label; null for those of trusted documents. */
  readonly operationNames: readonly string[] | null;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  /** The key of tenants' hashes; null where nothing may tell tenants apart. */
  readonly tenantSecret: string | null;
};

const OTHER = 'other';
export const OTHER_CLIENT: ClientName = { name: OTHER, version: null };

/** Of what no client has sent. */
export const UNATTRIBUTED: Attributed = {
  attribution: { client: OTHER, operation: OTHER, document: OTHER },
  clientVersion: null,
  tenant: null,
};

/** Trusted documents that have a label of their own: the first ones of their file. */
const MAX_DOCUMENTS = 100;
/** The most pairs of a client and an operation that have labels. Any further pair counts as the client's `other`. */
const MAX_PAIRS = 1000;
const MAX_TENANTS = 1000;

/** `1.4.2`, `v2`, `2026-11-24+abc`: no name, address or key. */
const VERSION = /^v?\d[\w.+-]{0,31}$/;

const HASH_LENGTH = 12;

/** An operation that has a label, and its attributions by client. */
type Label = Pick<Attribution, 'operation' | 'document'> & { readonly byClient: Map<string, Attribution> };

const labelOf = (operation: string, document: string): Label => ({
  operation,
  document,
  byClient: new Map(),
});

export const createAttribute = ({
  clientNames,
  operationNames,
  trusted,
  tenantSecret,
}: Options): Attribute => {
  const known = new Set(clientNames);
  const named = operationNames && new Set(operationNames);
  const labelledNow = () => new Set([...(trusted?.texts().keys() ?? [])].slice(0, MAX_DOCUMENTS));
  let labelled = labelledNow();
  const other = labelOf(OTHER, OTHER);
  const labels = new Map<string, Label>();
  let pairs = 0;

  const labelFor = (hash: string | null, name: string | null): Label => {
    const hasLabel = named ? name !== null && named.has(name) : hash !== null && labelled.has(hash);
    if (!hasLabel) return other;
    const [operation, document] = [name ?? 'anonymous', hash?.slice(0, HASH_LENGTH) ?? OTHER];
    // Many documents may have an operation of the same name.
    const key = `${operation} ${document}`;
    const label = labels.get(key) ?? labelOf(operation, document);
    labels.set(key, label);
    return label;
  };
  /** The labels of a document's operations by their names, each resolved once. */
  const rememberLabels = () =>
    rememberEach((document: DocumentNode) => {
      const text = document.loc?.source.body ?? '';
      const hash = trusted && createHash('sha256').update(text).digest('hex');
      return { hash, byName: new Map<string, Label>() };
    });
  let labelsOf = rememberLabels();
  trusted?.onReload(() => {
    labelled = labelledNow();
    labelsOf = rememberLabels();
  });
  const labelIn = (document: DocumentNode, operationName: string | null | undefined): Label => {
    const { hash, byName } = labelsOf(document);
    const found = byName.get(operationName ?? '');
    if (found) return found;
    const operation = getOperationAST(document, operationName);
    if (!operation) return other;
    const label = labelFor(hash, operation.name?.value ?? null);
    byName.set(operationName ?? '', label);
    return label;
  };
  const attributionOf = (label: Label, client: string): Attribution => {
    const found = label.byClient.get(client);
    if (found) return found;
    if (label !== other) {
      if (pairs >= MAX_PAIRS) return attributionOf(other, client);
      pairs += 1;
    }
    const { operation, document } = label;
    const attribution = { client, operation, document };
    label.byClient.set(client, attribution);
    return attribution;
  };

  const versionIn = (fields: ClientFields): string | null => {
    const version = fields['graphql-client-version'] ?? fields['apollographql-client-version'];
    return typeof version === 'string' && VERSION.test(version) ? version : null;
  };
  const clientIn: Attribute['clientIn'] = (fields) => {
    const name = fields['graphql-client-name'] ?? fields['apollographql-client-name'];
    if (name === undefined) return null;
    return typeof name === 'string' && known.has(name) ? { name, version: versionIn(fields) } : OTHER_CLIENT;
  };
  return {
    clientIn,
    of: (client, document, operationName) =>
      attributionOf(
        document === null || (named ?? labelled).size === 0 ? other : labelIn(document, operationName),
        client.name,
      ),
    tenantOf: tenantSecret === null ? () => null : createTenantHash(tenantSecret),
  };
};

const createTenantHash = (secret: string): ((tenant: string) => string) => {
  const hashes = new LRUCache<string, string>(atMostEntries(MAX_TENANTS));
  return (tenant) => {
    const known = hashes.get(tenant);
    if (known !== undefined) return known;
    const hmac = createHmac('sha256', secret).update(`tenant label:${tenant}`);
    const hash = hmac.digest('hex').slice(0, HASH_LENGTH);
    hashes.set(tenant, hash);
    return hash;
  };
};
