import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DeliveryAddresses } from './address.ts';
import { parseBody } from './body.ts';
import { headerBySuffix, readHeaders, uuidOf } from './headers.ts';
import type { DeliveryLog, NewDelivery } from './log.ts';
import type { DeliveryOutcome, IngestObserver } from './observer.ts';
import { summarize } from './payload.ts';
import { Refusal, refuse } from './refusal.ts';
import { type BodyLimits, type RequestBody, readRequestBody } from './request-body.ts';
import { isSigned } from './signature.ts';

type SignatureCheck = {
  readonly secrets: readonly string[];
  /** Default: the one that ends in `webhook-signature`. */
  readonly header?: string | null | undefined;
};

export type IngressParts = {
  readonly log: DeliveryLog;
  readonly addresses: Pick<DeliveryAddresses, 'tenantOf'>;
  /** Without it, the url's token is what proves the sender. */
  readonly signature?: SignatureCheck | null | undefined;
  /** Default: the system's clock. */
  readonly now?: (() => number) | undefined;
  readonly limits?: Partial<BodyLimits> | undefined;
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
const RETRY_AFTER_S = 5;

/**
 * Takes the service's deliveries: 200 with `{"duplicate": …}` once the delivery is durable. Otherwise 404 (no tenant's
 * url), 405 (not a POST), 415, 413 and 408 (see `readRequestBody`), 401 (not signed as it must be), 400 (not a JSON
 * object or array) or 503 with Retry-After (the log can't take it), and nothing is stored.
 */
export function createIngress(parts: IngressParts): Ingress {
  return async (request, response, segments) => {
    // A sender that goes away has nobody left to tell.
    request.on('error', () => {});
    const startedAt = performance.now();
    const tell = (outcome: DeliveryOutcome) =>
      parts.observer?.answered(outcome, performance.now() - startedAt);
    try {
      const duplicate = await takeDelivery(parts, request, segments);
      const body = JSON.stringify({ duplicate });
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      });
      response.end(body);
      tell(duplicate ? 'duplicate' : 'stored');
    } catch (error) {
      const refusal = error instanceof Refusal ? error : unavailable();
      refuse(request, response, refusal);
      tell(refusal.status);
    }
  };
}

async function takeDelivery(
  { log, addresses, signature, now = Date.now, limits, onStored }: IngressParts,
  request: IncomingMessage,
  segments: readonly string[],
): Promise<boolean> {
  // First of all: who has no valid url learns nothing else, not even which methods there are.
  const tenant = addresses.tenantOf(segments);
  if (tenant === null) throw new Refusal(404, 'not found');
  if (request.method !== 'POST') throw new Refusal(405, 'expected POST', { allow: 'POST' });

  const body = await readRequestBody(request, { ...LIMITS, ...limits });
  if (signature && !isAuthentic(request, body, signature))
    throw new Refusal(401, 'expected a valid signature');
  const delivery = describe(tenant, request, body.plain, now());
  const [stored] = await log.append([delivery]);
  if (stored === undefined) throw unavailable();
  if (!stored.duplicate) onStored?.(tenant, delivery.addresses);
  return stored.duplicate;
}

/** Whether a compressed body is signed before or after its compression, nobody says: either proves the sender. */
function isAuthentic(
  { headers }: IncomingMessage,
  { sent, plain }: RequestBody,
  { secrets, header }: SignatureCheck,
): boolean {
  const given = header ? headers[header.toLowerCase()] : headerBySuffix(headers, 'webhook-signature');
  const signature = Array.isArray(given) ? given[0] : given;
  return isSigned(sent, signature, secrets) || (plain !== sent && isSigned(plain, signature, secrets));
}

function describe(tenant: string, request: IncomingMessage, body: Buffer, receivedAt: number): NewDelivery {
  const headers = readHeaders(request.headers);
  const said = summarize(parseJson(body));
  const query = new URLSearchParams(request.url?.split('?')[1]);
  return {
    ...headers,
    tenant,
    webhookId: headers.webhookId ?? uuidOf(query.get('webhook')),
    type: headers.type ?? said.type,
    chainId: headers.chainId ?? said.chainId,
    receivedAt,
    body,
    addresses: said.addresses,
  };
}

function parseJson(body: Buffer): unknown {
  try {
    return parseBody(body);
  } catch {
    throw new Refusal(400, 'expected a JSON object or array');
  }
}

const unavailable = () =>
  new Refusal(503, 'deliveries can not be stored now', { 'retry-after': String(RETRY_AFTER_S) });
