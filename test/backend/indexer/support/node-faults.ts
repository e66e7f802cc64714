import type { ServerResponse } from 'node:http';
import type { Answer, Call } from './faulty-node.ts';

/** What nodes, their balancers and their providers answer in a bad minute. */
export type NodeFault = {
  readonly name: string;
  /** Answers a call in place of the node; null leaves the answer out. */
  readonly answer?: (call: Call, right: () => Promise<Answer>) => Answer | null | Promise<Answer | null>;
  /** Answers a request over HTTP with all of its calls. `right` resolves with the body that the node would have sent. */
  readonly respond?: (
    response: ServerResponse,
    right: () => Promise<string>,
    calls: number,
  ) => void | Promise<void>;
  /** What comes over a WebSocket in the place of an answer. Default: what `answer` says. */
  readonly message?: (call: Call) => string | 'silence' | 'closes';
};

/** The errors of JSON-RPC, in the words of nodes and providers. */
const ERRORS: readonly (readonly [code: number, message: string])[] = [
  [-32603, 'Internal error'],
  [-32000, 'no healthy upstream'],
  [-32000, 'Monthly quota exceeded, upgrade your plan'],
  [-32000, 'header not found'],
  [-32000, 'unknown block'],
  [-32000, 'execution aborted (timeout = 5s)'],
  [-32000, 'out of gas'],
  [-32003, 'out of gas: gas required exceeds: 50000000'],
  [-32000, 'transaction reverted by proxy'],
  [-32000, 'request failed, reverted to fallback'],
  [-32000, 'server error'],
  [-32005, 'daily request count exceeded, request rate limited'],
  [429, 'Too Many Requests'],
  [-32016, 'over rate limit'],
  [-32002, 'resource unavailable'],
  [-32003, 'response too large'],
  [-32600, 'Invalid Request'],
  [-32601, 'the method does not exist/is not available'],
  [-32602, 'invalid argument 0: json: cannot unmarshal'],
  [-32700, 'Parse error'],
  [3, 'INVALID_ARGUMENT'],
];

/** Errors that are not in the form of JSON-RPC. */
const ODD_ERRORS: readonly (readonly [what: string, error: unknown])[] = [
  ['a text', 'upstream failed'],
  ['without a code', { message: 'upstream failed' }],
  ['with a code in a text', { code: '-32603', message: 'Internal error' }],
  ['with nothing', {}],
  ['without a message', { code: -32603 }],
  ['that is true', true],
  ['that is empty', ''],
];

/** Results that no method of the index has. An empty answer is not among them, since contracts do give it. */
const RESULTS: readonly (readonly [what: string, result: unknown])[] = [
  ['null', null],
  ['a text', 'garbage'],
  ['an empty text', ''],
  ['a number', 5],
  ['an object', {}],
  ['an empty list', []],
  ['a list of null', [null]],
];

const HTML = '<html><body><h1>502 Bad Gateway</h1></body></html>';

/** Responses over HTTP. */
const RESPONSES: readonly (readonly [
  status: number,
  body: string,
  headers?: Readonly<Record<string, string>>,
])[] = [
  [400, 'Bad Request'],
  [401, '{"error":"invalid project id"}'],
  [402, 'Payment Required'],
  [403, '{"message":"forbidden"}'],
  [404, 'Not Found'],
  [413, 'Payload Too Large'],
  [429, 'Too Many Requests', { 'retry-after': '1' }],
  [500, 'Internal Server Error'],
  [502, HTML],
  [503, 'no healthy upstream'],
  [504, 'upstream request timeout'],
  [200, HTML],
  [200, ''],
  [200, '{}'],
  [200, '[]'],
  [200, 'null'],
];

const errorFault = (name: string, error: unknown): NodeFault => ({ name, answer: () => ({ error }) });

/** A node that takes connections and calls, and does not answer. */
export const SILENCE: NodeFault = { name: 'silence', respond: () => {}, message: () => 'silence' };

/** What happens to a batch of more than a few calls. Fewer, and those over a WebSocket, are answered. */
const batchFault = (
  name: string,
  respond: (response: ServerResponse, answers: readonly Answer[]) => void,
): NodeFault => ({
  name: `a batch ${name}`,
  async respond(response, right, calls) {
    const body = await right();
    if (calls > TAKEN) respond(response, JSON.parse(body) as readonly Answer[]);
    else response.end(body);
  },
});
const TAKEN = 3;

const refusedBatch = (status: number, message: string, code = -32600): NodeFault =>
  batchFault(`is refused with HTTP ${status}, ${code} ${message}`, (response) => {
    response.writeHead(status).end(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message } }));
  });

/** Refusals of batches that say so, in the words of nodes and providers. */
export const BATCH_REFUSALS: readonly NodeFault[] = [
  refusedBatch(200, 'batch too large'),
  refusedBatch(200, 'batch limit 3 exceeded (can increase by --rpc.batch.limit)', -32000),
  refusedBatch(400, 'Number of requests in batch exceeds limit', -32005),
  refusedBatch(500, 'Batch of more than 3 requests are not allowed on free tier', 31),
  batchFault('is refused with HTTP 413', (response) => response.writeHead(413).end('Payload Too Large')),
  batchFault('is refused by an error for its first call', (response, [first]) =>
    response.end(
      JSON.stringify([
        { jsonrpc: '2.0', id: first?.id, error: { code: -32600, message: 'batch too large' } },
      ]),
    ),
  ),
  batchFault('is too large from its second call on', (response, answers) => {
    const error = { code: -32003, message: 'response too large' };
    response.end(JSON.stringify(answers.map((each, at) => (at === 0 ? each : { id: each.id, error }))));
  }),
];

/** What else may become of a batch. */
export const BATCH_FAULTS: readonly NodeFault[] = [
  batchFault('is too many requests', (response) => response.writeHead(429).end('Too Many Requests')),
  batchFault('is an error of the server', (response) => response.writeHead(500).end('')),
  batchFault('is reset', (response) => void response.destroy()),
  batchFault('is not answered', () => {}),
  batchFault('is answered in another order', (response, answers) =>
    response.end(JSON.stringify(answers.toReversed())),
  ),
  batchFault('lacks answers', (response, answers) => response.end(JSON.stringify(answers.slice(2)))),
  batchFault('has an answer of another id', (response, answers) =>
    response.end(JSON.stringify(answers.map((each, at) => (at === 1 ? { ...each, id: 4_711 } : each)))),
  ),
  batchFault('has only answers of other ids', (response, answers) =>
    response.end(JSON.stringify(answers.map((each) => ({ ...each, id: -Number(each.id) })))),
  ),
];

export const NODE_FAULTS: readonly NodeFault[] = [
  ...BATCH_REFUSALS,
  ...BATCH_FAULTS,
  ...ERRORS.map(([code, message]) => errorFault(`error ${code} ${message}`, { code, message })),
  ...ODD_ERRORS.map(([what, error]) => errorFault(`an error ${what}`, error)),
  ...RESULTS.map(([what, result]) => ({ name: `the result is ${what}`, answer: () => ({ result }) })),
  ...RESPONSES.map(
    ([status, body, headers = {}]): NodeFault => ({
      name: `HTTP ${status} ${body.slice(0, 20)}`,
      respond: (response) => void response.writeHead(status, headers).end(body),
      message: () => (status === 200 ? body : 'closes'),
    }),
  ),
  { name: 'neither a result nor an error', answer: () => ({}) },
  { name: 'a wrong id', answer: async (_, right) => ({ ...(await right()), id: 4_711 }) },
  { name: 'no id', answer: async (_, right) => ({ ...(await right()), id: null }) },
  { name: 'an answer that is missing', answer: () => null, message: () => 'silence' },
  {
    name: 'a body that is cut',
    async respond(response, right) {
      const body = await right();
      response.writeHead(200, { 'content-length': body.length });
      response.write(body.slice(0, body.length / 2), () => response.destroy());
    },
    message: () => '{"jsonrpc":"2.0","id":1,"resu',
  },
  {
    name: 'a body that ends early',
    respond: async (response, right) => {
      const body = await right();
      response.end(body.slice(0, body.length / 2));
    },
    message: () => '{"jsonrpc":"2.0","id":1,"resu',
  },
  {
    name: 'a connection that is reset',
    respond: (response) => void response.destroy(),
    message: () => 'closes',
  },
  SILENCE,
];
