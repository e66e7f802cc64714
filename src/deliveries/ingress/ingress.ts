import type { IncomingMessage, ServerResponse } from 'node:http';
import { createMemoryBudget, type Reservation } from '../../lib/memory-budget.ts';
import type { Semaphore } from '../../lib/semaphore.ts';
import { BodyParser } from '../events/body.ts';
import { earliestTime, summarize } from '../events/payload.ts';
import { LogUnavailableError } from '../log/errors.ts';
import type { DeliveryLog, NewDelivery } from '../log/log.ts';
import { cacheByConnection } from './connection-tenant.ts';
import type { DeliveryUrls } from './delivery-url.ts';
import { readHeaders, uuidOf } from './headers.ts';
import { IngressError, sendError, unavailable } from './http-error.ts';
import { type BodyLimits, createInflating, type RequestBody, readRequestBody } from './request-body.ts';
import { isSigned } from './signature.ts';

/** The outcome of a posted delivery: stored, duplicate, or the HTTP status by which it was refused. */
type DeliveryOutcome = 'stored' | 'duplicate' | number;

/** Reports deliveries to the metrics. */
export type IngestObserver = {
  /** A delivery was answered, so many milliseconds after its headers arrived. */
  answered(outcome: DeliveryOutcome, durationMs: number): void;
};

type SignatureCheck = {
  readonly secrets: readonly string[];
  /** In lower case. Default: the one whose name ends in `webhook-signature`. */
  readonly header?: string | null | undefined;
};

export type IngressParts = {
  readonly log: DeliveryLog;
  readonly addresses: Pick<DeliveryUrls, 'tenantOf'>;
  /** Without it, the url's token is what proves the sender. */
  readonly signature?: SignatureCheck | null | undefined;
  /** Default: the system's clock. */
  readonly now?: (() => number) | undefined;
  readonly limits?: Partial<BodyLimits> | undefined;
  /** Bytes of bodies that all senders together may have under way; beyond it, 503. Default: 64 MB. */
  readonly maxHeldBytes?: number | undefined;
  /**
   * Finds the subscribed address of a webhook's events at the time `happenedAt()`, in milliseconds since 1970; null when it
   * is not known. Called for deliveries that don't name it. Must answer within a second. Default: always null.
   */
  readonly findSubscriber?:
    | ((tenant: string, webhookId: string, happenedAt: () => number | null) => Promise<string | null>)
    | undefined;
  /** Called when a delivery that is no duplicate is durable, before its sender is answered. */
  readonly onStored?: ((tenant: string, addresses: readonly string[]) => void) | undefined;
  readonly observer?: IngestObserver | undefined;
};

/** `segments` are those of the path after `/deliveries`, still percent-encoded. Never rejects. */
export type Ingress = (
  request: IncomingMessage,
  response: ServerResponse,
  segments: readonly string[],
) => Promise<void>;

const LIMITS: BodyLimits = { maxBytes: 5 * 1024 * 1024, timeoutMs: 10_000 };
const MAX_HELD_BYTES = 64 * 1024 * 1024;

/**
 * Takes the service's deliveries: 200 with `{"duplicate": …}` once the delivery is durable. Otherwise 404 (no tenant's
 * url), 405 (not a POST), 415, 413 and 408 (see `readRequestBody`), 401 (not signed as it must be), 400 (not a JSON
 * object or array) or 503 with Retry-After (the log can't take it, or too many bodies are being taken), and nothing is
 * stored.
 */
export const createIngress = (parts: IngressParts): Ingress => {
  const memory = createMemoryBudget(parts.maxHeldBytes ?? MAX_HELD_BYTES);
  const taking: Taking = { ...parts, inflating: createInflating(), bodies: new BodyParser() };
  const tenantOf = cacheByConnection(parts.addresses);
  return async (request, response, segments) => {
    // A sender that goes away has nobody left to tell.
    request.on('error', ignore);
    const startedAt = performance.now();
    const report = (outcome: DeliveryOutcome) =>
      parts.observer?.answered(outcome, performance.now() - startedAt);
    const reservation = memory.reserve();
    try {
      // First of all: who has no valid url learns nothing else, not even which methods there are.
      const tenant = tenantOf(request, segments);
      if (tenant === null) throw new IngressError(404, 'not found');
      if (request.method !== 'POST') throw new IngressError(405, 'expected POST', { allow: 'POST' });
      const duplicate = await takeDelivery(taking, tenant, request, reservation);
      const body = duplicate ? '{"duplicate":true}' : '{"duplicate":false}';
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.end(body);
      report(duplicate ? 'duplicate' : 'stored');
    } catch (error) {
      const refusal = error instanceof IngressError ? error : unavailable();
      sendError(request, response, refusal);
      report(refusal.status);
    } finally {
      reservation.release();
    }
  };
};

type Taking = IngressParts & { readonly inflating: Semaphore; readonly bodies: BodyParser };

const takeDelivery = async (
  { log, signature, now = Date.now, limits, findSubscriber, onStored, inflating, bodies }: Taking,
  tenant: string,
  request: IncomingMessage,
  reservation: Reservation,
): Promise<boolean> => {
  const body = await readRequestBody(
    request,
    limits ? { ...LIMITS, ...limits } : LIMITS,
    reservation,
    inflating,
  );
  const headers = readHeaders(request.headers);
  if (signature) {
    const given = signature.header ? headerOf(request, signature.header) : headers.signature;
    if (!isAuthentic(body, given, signature.secrets))
      throw new IngressError(401, 'expected a valid signature');
  }
  const parsed = await readJson(bodies, body.plain);
  const said = summarize(parsed);
  const webhookId = headers.webhookId ?? webhookOf(request);
  const subscribedAddress =
    findSubscriber && webhookId !== null && said.lacksSubscriber
      ? await findSubscriber(tenant, webhookId, () => earliestTime(parsed))
      : null;
  const delivery: NewDelivery = {
    tenant,
    webhookId,
    type: headers.type ?? said.type,
    chainId: headers.chainId ?? said.chainId,
    receivedAt: now(),
    dispatchedAt: headers.dispatchedAt,
    attempt: headers.attempt,
    body: body.plain,
    addresses:
      subscribedAddress === null ? said.addresses : [...new Set([...said.addresses, subscribedAddress])],
    subscribedAddress,
  };
  const [stored] = await log.append([delivery]);
  if (stored === undefined) throw new LogUnavailableError('the log gave no answer');
  if (!stored.duplicate) onStored?.(tenant, delivery.addresses);
  return stored.duplicate;
};

/** Whether a compressed body is signed before or after its compression, nobody says: either proves the sender. */
const isAuthentic = (
  { sent, plain }: RequestBody,
  signature: string | null,
  secrets: readonly string[],
): boolean => isSigned(sent, signature, secrets) || (plain !== sent && isSigned(plain, signature, secrets));

const headerOf = ({ headers }: IncomingMessage, name: string): string | null => {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
};

const webhookOf = ({ url }: IncomingMessage): string | null => {
  const query = url?.split('?')[1];
  return query === undefined ? null : uuidOf(new URLSearchParams(query).get('webhook'));
};

const readJson = async (bodies: BodyParser, body: Buffer): Promise<unknown> => {
  try {
    return await bodies.read(body);
  } catch {
    throw new IngressError(400, 'expected a JSON object or array');
  }
};

const ignore = () => {};
