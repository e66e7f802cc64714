import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { clientError } from '../../../graph/errors.ts';
import { collectBody } from '../../../lib/buffers.ts';
import { isObject } from '../../../lib/json/exact-json.ts';
import type { Authenticate } from '../../auth/authenticate.ts';
import type { CheckHeaders } from '../../browsers/origin-policy.ts';
import type { ClientAddress } from '../../http/client-address.ts';
import { headersOf, traceOf } from '../../http/exchange.ts';
import { incomplete, type WholeRequest } from '../../http/whole-body.ts';
import type { Documents } from '../limits/documents.ts';
import {
  type BodyLimit,
  isSmallBody,
  limitBody,
  MAX_BODY_BYTES,
  parseBody,
  type RequestMemory,
  tooLarge,
} from '../limits/request-memory.ts';
import type { Params, Received } from '../operation-plugin.ts';
import {
  type NamedDocument,
  namedDocument,
  type PersistedQueries,
  persistedHashIn,
} from '../persisted-queries.ts';
import type { TrustedDocuments } from '../trusted-documents.ts';

/**
 * Receives the operation of a GET or a POST. Its headers are checked before its credentials, these before memory for its
 * body is reserved, and its parameters before its document is parsed. Rejects with the error for its client, or with the
 * InvalidDocument of its document.
 */
export type Receive = (
  request: WholeRequest,
  response: ServerResponse,
  clientSignal: AbortSignal,
) => Promise<Received>;

type Options = {
  readonly checkHeaders: CheckHeaders;
  readonly authenticate: Authenticate;
  readonly clientAddress: ClientAddress;
  readonly requestMemory: RequestMemory;
  readonly documents: Documents;
  /** Null when any document may run. */
  readonly trusted: TrustedDocuments | null;
  readonly persisted: PersistedQueries;
};

/** The parameters of a request as it was sent. */
type Asked = Omit<Params, 'query'> & NamedDocument;

export const createReceive = (options: Options): Receive => {
  const { checkHeaders, authenticate, clientAddress, requestMemory, documents, trusted, persisted } = options;
  const messages = createMessageMemory<Asked>();
  trusted?.onReload(() => messages.clear());
  const toParams = (json: unknown): Asked => paramsOf(json, trusted);
  const readPost = createReadPost(requestMemory, toParams, messages);

  return async (request, response, clientSignal) => {
    const { method = 'GET', url = '' } = request;
    const headers = headersOf(request);
    const rejection = checkHeaders(method, headers);
    if (rejection) throw rejection;
    const authenticated = authenticate(headers, () => clientAddress(request));
    const caller = authenticated instanceof Promise ? await authenticated : authenticated;
    const { billingKey } = caller;
    if (method !== 'GET' && method !== 'POST')
      throw invalid('Expected GET or POST, got another method.', 405);
    const asked = method === 'GET' ? toParams(readQuery(url)) : await readPost(request, response, billingKey);
    const params = asked.query === null ? { ...asked, query: persisted.find(asked.hash, caller) } : asked;
    const { query, operationName } = params;
    const trace = traceOf(response);
    const known = documents.known(query, operationName);
    const operation =
      known ?? (await documents.read(query, operationName, { billingKey, clientSignal, trace }));
    if (method === 'GET' && operation.type === 'mutation')
      throw badRequest('Expected a mutation by POST, got one by GET.', 405, { allow: 'POST' });
    if (asked.query !== null && asked.hash !== null) persisted.keep(asked.hash, query, caller);
    return { caller, params, isPersisted: trusted !== null || asked.query === null, ...operation };
  };
};

/** The most characters of the bodies that are remembered. With what they say, they take several times as many bytes. */
const MAX_CHARACTERS = 1024 * 1024;

/** Remembers the parameters of small bodies, so that those that clients send again are parsed once. */
type MessageMemory<Message extends object> = Pick<LRUCache<string, Message>, 'get' | 'set' | 'clear'>;

const createMessageMemory = <Message extends object>(): MessageMemory<Message> =>
  new LRUCache({ maxSize: MAX_CHARACTERS, sizeCalculation: (_message, text) => text.length + 1 });

/**
 * Reads the JSON body of a POST, and `toMessage` reads what it says. A large one counts against the memory of its client
 * until the response is sent. Rejects with the error for the client. `client` is the caller's billing key.
 */
export const createReadPost = <Message extends object>(
  requestMemory: RequestMemory,
  toMessage: (json: unknown) => Message,
  messages: MessageMemory<Message> | null = null,
) => {
  const readSmall = (text: string): Message => {
    const known = messages?.get(text);
    if (known !== undefined) return known;
    const message = toMessage(fromJson(text));
    messages?.set(text, message);
    return message;
  };
  const readLarge = async (
    request: WholeRequest,
    response: ServerResponse,
    client: string,
  ): Promise<Message> => {
    if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
    const body = await readLimited(request, (abort) => limitBody(requestMemory, client, response, abort));
    return toMessage(await parseBody(body.toString()).catch(throwNoJson));
  };
  return (request: WholeRequest, response: ServerResponse, client: string): Promise<Message> =>
    isSmallBody(request.headers['content-length'])
      ? request.whole(readSmall)
      : readLarge(request, response, client);
};

const badRequest = (
  message: string,
  status: number,
  headers: Readonly<Record<string, string>> = {},
): GraphQLError => clientError('BAD_USER_INPUT', message, { http: { status, headers } });

/** The error of a request that might be right as another one. */
const invalid = (message: string, status = 400): GraphQLError =>
  badRequest(message, status, { allow: 'GET, POST' });

/** Reads a GET's parameters from its URL, and rejects those that aren't JSON. */
const readQuery = (url: string): Readonly<Record<string, unknown>> => {
  const given = new URLSearchParams(url.slice(url.indexOf('?') + 1));
  const params: Record<string, unknown> = {};
  for (const name of ['query', 'operationName', 'documentId']) params[name] = given.get(name) || undefined;
  for (const name of ['variables', 'extensions']) params[name] = parseParameter(name, given.get(name));
  return params;
};

const parseParameter = (name: string, text: string | null): unknown => {
  if (!text) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw clientError('BAD_USER_INPUT', `Expected ${name} to be JSON, got something else.`, {
      http: { status: 400, spec: true },
    });
  }
};

/** Reads a whole body within the limit. Rejects with the error of the limit if the body exceeds it. */
const readLimited = (
  request: IncomingMessage,
  limitFor: (abort: (error: GraphQLError) => void) => BodyLimit,
): Promise<Buffer> => {
  const limit = limitFor((error) => stop(error));
  const { body, stop } = collectBody(request, limit.add, incomplete);
  return body.finally(limit.arrived);
};

const fromJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch (error) {
    return throwNoJson(error);
  }
};

const throwNoJson = (error: unknown): never => {
  throw error instanceof SyntaxError
    ? badRequest('Expected a body of JSON, got something else.', 400)
    : error;
};

const PARAMETERS: readonly string[] = ['query', 'operationName', 'variables', 'extensions'];

/** Returns the parameters of a request. Where documents are trusted, further parameters are ignored. */
const paramsOf = (json: unknown, trusted: TrustedDocuments | null): Asked => {
  if (Array.isArray(json)) throw badRequest('Expected one operation, got a list.', 400);
  if (!isObject(json))
    throw badRequest(
      `Expected a body that is a JSON object, got ${json === null ? 'null' : typeof json}.`,
      400,
    );
  if (trusted === null) rejectOthers(json);
  const { operationName, variables, extensions } = json;
  const document = trusted === null ? documentIn(json) : { query: trusted.documentOf(json), hash: null };
  if (!isOptionalObject(variables)) throw noObject('variables', variables);
  if (!isOptionalObject(extensions)) throw noObject('extensions', extensions);
  return { ...document, operationName: nameIn(operationName), variables, extensions };
};

const documentIn = ({ query, extensions }: Readonly<Record<string, unknown>>): NamedDocument => {
  const isMissing = query === null || query === undefined;
  if (isMissing && persistedHashIn(extensions) === null)
    throw clientError('BAD_USER_INPUT', 'Expected a query, got none.', {
      http: { status: 400, headers: { allow: 'GET, POST' }, spec: true },
    });
  if (!isMissing && typeof query !== 'string')
    throw invalid(`Expected "query" param to be a string, but given ${typeOf(query)}.`);
  return namedDocument(query ?? '', extensions);
};

const rejectOthers = (json: Readonly<Record<string, unknown>>): void => {
  for (const name of Object.keys(json))
    if (!PARAMETERS.includes(name) && (json[name] ?? null) !== null)
      throw badRequest(
        `Expected query, operationName, variables or extensions, got "${name.slice(0, 80)}".`,
        400,
      );
};

/** Some clients send an empty name where an operation has none. */
const nameIn = (value: unknown): string | null => {
  if (value === null || value === undefined || value === '') return null;
  if (typeof value === 'string') return value;
  throw invalid(`Expected "operationName" param to be empty or a string, but given ${typeOf(value)}.`);
};

const noObject = (name: string, value: unknown): GraphQLError =>
  invalid(`Expected "${name}" param to be empty or an object, but given ${typeOf(value)}.`);

const typeOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

const isOptionalObject = (value: unknown): value is Readonly<Record<string, unknown>> | null | undefined =>
  value === null || value === undefined || isObject(value);
