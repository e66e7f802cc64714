import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Trace } from '../../lib/trace.ts';
import { BodyParser } from '../events/body.ts';
import { earliestTime, summarize } from '../events/events.ts';
import { smallIntegerOf } from '../events/fields.ts';
import { LogUnavailableError } from '../log/errors.ts';
import type { DeliveryLog, NewDelivery } from '../log/log.ts';
import { cacheByConnection, type DeliveryUrls } from './delivery-url.ts';
import type { RefusedDelivery } from './refused.ts';
import {
  type BodyLimits,
  type BodyResources,
  createBodyResources,
  IngressError,
  isSigned,
  OutOfMemoryError,
  type RequestBody,
  readHeaders,
  readRequestBody,
  sendError,
  UnavailableError,
  uuidOf,
  type WriteHead,
} from './request.ts';

/** The outcome of a posted delivery: stored, duplicate, or the HTTP status by which it was refused. */
type DeliveryOutcome = 'stored' | 'duplicate' | number;

/** A webhook that a delivery names. A tenant can post to its own URL in any name. */
export type DeliverySource = { readonly tenant: string; readonly webhookId: string };

/** Reports deliveries to the metrics. */
export type IngestObserver = {
  /**
   * A delivery was answered. The time since its headers arrived is in milliseconds. `source` is null for one that was not
   * posted to a tenant's URL, or that names no webhook.
   */
  answered?(outcome: DeliveryOutcome, durationMs: number, source: DeliverySource | null): void;
  /** A delivery was refused because there was no memory for its body. It is reported as answered too. */
  outOfMemory?(): void;
};

/** Called with the addresses that a delivery is known to concern. `webhookId` is null when the sender does not name it. */
type OnDelivery = (tenant: string, addresses: readonly string[], webhookId: string | null) => void;

export type IngressParts = {
  readonly log: Pick<DeliveryLog, 'append'>;
  readonly deliveryUrls: Pick<DeliveryUrls, 'tenantOf'>;
  /** The secrets, and the header in lower case (default: see `readHeaders`). Null: the URL's token alone proves the sender. */
  readonly signature?:
    | { readonly secrets: readonly string[]; readonly header?: string | null | undefined }
    | null
    | undefined;
  /** Default: the system's clock. */
  readonly now?: (() => number) | undefined;
  readonly limits?: Partial<BodyLimits> | undefined;
  /**
   * Finds the subscribed address of a webhook's events at the time `happenedAt()`, in milliseconds since 1970; null when it
   * is unknown. Called for deliveries that don't name it. Must resolve within a second. Default: always null.
   */
  readonly findSubscriber?:
    | ((tenant: string, webhookId: string, happenedAt: () => number | null) => Promise<string | null>)
    | undefined;
  /** Called before a delivery is stored: what it causes elsewhere begins before any reader sees it. */
  readonly onReceived?: ((delivery: NewDelivery) => void) | undefined;
  /** Called when a delivery that is not a duplicate is durable, before its sender is answered. */
  readonly onStored?: OnDelivery | undefined;
  /** Called when a request to a tenant's URL that names a webhook was refused. */
  readonly onRefused?: ((tenant: string, refused: RefusedDelivery) => void) | undefined;
  readonly observer?: IngestObserver | undefined;
  /** Returns the trace of the request that a response answers. Default: none. */
  readonly traceOf?: ((response: ServerResponse) => Trace) | undefined;
  /** Default: that of `node:http`. */
  readonly writeHead?: WriteHead | undefined;
};

/** `segments` are those of the path after `/deliveries`, still percent-encoded. Never rejects. */
export type Ingress = (
  request: IncomingMessage,
  response: ServerResponse,
  segments: readonly string[],
) => Promise<void>;

const LIMITS: BodyLimits = { maxBytes: 5 * 1024 * 1024, timeoutMs: 10_000 };

/**
 * Stores upstream's deliveries. Answers 200 with `{"duplicate": …}` once the delivery is durable. Otherwise nothing is
 * stored, and the status is one of:
 * - 404: the path is not a tenant's delivery URL; 405: not a POST
 * - 400, 408, 413, 415: see `readRequestBody`; 400 also for a body that is not a JSON object or array
 * - 401: the signature is missing or wrong
 * - 503 with Retry-After: the log is unavailable, or there is no memory for the body
 */
export const createIngress = (parts: IngressParts): Ingress => {
  const shared: Shared = { ...parts, resources: createBodyResources(), bodies: new BodyParser() };
  const tenantOf = cacheByConnection(parts.deliveryUrls);
  const { writeHead = writeHeadOfNode } = parts;
  return async (request, response, segments) => {
    // The sender has disconnected: no answer can reach it.
    request.on('error', ignore);
    const startedAt = performance.now();
    let tenant: string | null = null;
    const report = (outcome: DeliveryOutcome, webhookId: string | null) => {
      const source = tenant === null || webhookId === null ? null : { tenant, webhookId };
      parts.observer?.answered?.(outcome, performance.now() - startedAt, source);
    };
    try {
      // The URL comes first: a client without a valid one learns nothing else, not even the allowed methods.
      tenant = tenantOf(request, segments);
      if (tenant === null) throw new IngressError(404, 'not found');
      if (request.method !== 'POST')
        throw new IngressError(405, `expected POST, got ${request.method}`, { allow: 'POST' });
      const { duplicate, webhookId } = await receive(shared, tenant, request, parts.traceOf?.(response));
      const { body, headers } = duplicate ? DUPLICATE : STORED;
      writeHead(response, 200, headers);
      response.end(body, 'latin1');
      report(duplicate ? 'duplicate' : 'stored', webhookId);
    } catch (error) {
      const refusal = error instanceof IngressError ? error : new UnavailableError();
      sendError(request, response, refusal, writeHead);
      const sender = senderOf(parts, request);
      report(refusal.status, sender.webhookId);
      if (refusal instanceof OutOfMemoryError) parts.observer?.outOfMemory?.();
      if (tenant !== null) reportRefused(parts, tenant, sender, refusal);
    }
  };
};

const writeHeadOfNode: WriteHead = (response, status, headers) => response.writeHead(status, headers);

const answerOf = (duplicate: boolean) => {
  const body = JSON.stringify({ duplicate });
  return {
    body,
    headers: { 'content-type': 'application/json', 'content-length': String(body.length) },
  };
};

const STORED = answerOf(false);
const DUPLICATE = answerOf(true);

type Shared = IngressParts & { readonly resources: BodyResources; readonly bodies: BodyParser };

type Stored = { readonly duplicate: boolean; readonly webhookId: string | null };

/** Resolves once the delivery is durable. */
const receive = async (
  shared: Shared,
  tenant: string,
  request: IncomingMessage,
  trace: Trace | undefined,
): Promise<Stored> => {
  const body = await readRequestBody(request, tenant, { ...LIMITS, ...shared.limits }, shared.resources);
  try {
    return await store(shared, tenant, request, body, trace);
  } finally {
    body.release();
  }
};

const store = async (
  { log, signature, now = Date.now, findSubscriber, onReceived, onStored, bodies }: Shared,
  tenant: string,
  request: IncomingMessage,
  body: RequestBody,
  trace: Trace | undefined,
): Promise<Stored> => {
  const headers = readHeaders(request.headers, signature?.header);
  if (signature && !isSigned(body, headers.signature, signature.secrets))
    throw new IngressError(401, 'expected a valid signature');
  const parsed = await parse(bodies, tenant, body.plain);
  const summary = summarize(parsed);
  const webhookId = headers.webhookId ?? webhookOf(request);
  const subscribedAddress =
    findSubscriber && webhookId !== null && summary.lacksSubscriber
      ? await findSubscriber(tenant, webhookId, () => earliestTime(parsed))
      : null;
  const delivery: NewDelivery = {
    tenant,
    webhookId,
    type: headers.type ?? summary.type,
    chainId: headers.chainId ?? summary.chainId,
    receivedAt: now(),
    dispatchedAt: headers.dispatchedAt,
    attempt: headers.attempt,
    body: body.plain,
    addresses:
      subscribedAddress === null
        ? summary.addresses
        : [...new Set([...summary.addresses, subscribedAddress])],
    subscribedAddress,
  };
  onReceived?.(delivery);
  const [result] = await log.append([delivery], trace);
  if (result === undefined) throw new LogUnavailableError('the log returned no result for a delivery');
  if (!result.duplicate) onStored?.(tenant, delivery.addresses, delivery.webhookId);
  return { duplicate: result.duplicate, webhookId };
};

/** A webhook's owner can see why its deliveries fail. */
const reportRefused = (
  { onRefused, now = Date.now }: IngressParts,
  tenant: string,
  { webhookId, ...sender }: Sender,
  { status, message: reason }: IngressError,
): void => {
  if (webhookId !== null) onRefused?.(tenant, { webhookId, ...sender, refusedAt: now(), status, reason });
};

type Sender = Pick<NewDelivery, 'webhookId' | 'attempt'> & Pick<RefusedDelivery, 'bytes'>;

/** What a request says of its sender, whether or not its body could be read. */
const senderOf = ({ signature }: IngressParts, request: IncomingMessage): Sender => {
  const { webhookId, attempt } = readHeaders(request.headers, signature?.header);
  const bytes = smallIntegerOf(request.headers['content-length']);
  return { webhookId: webhookId ?? webhookOf(request), attempt, bytes };
};

const webhookOf = ({ url }: IncomingMessage): string | null => {
  const query = url?.split('?')[1];
  return query === undefined ? null : uuidOf(new URLSearchParams(query).get('webhook'));
};

const parse = async (bodies: BodyParser, tenant: string, body: Buffer): Promise<unknown> => {
  try {
    return await bodies.parse(tenant, body);
  } catch {
    throw new IngressError(400, 'expected a JSON object or array');
  }
};

const ignore = () => {};
