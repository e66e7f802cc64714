import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { eventually } from '../clients/subscribe.ts';

/** A span as it was exported, with its attributes as one object. */
export type ExportedSpan = {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the root of a trace. */
  readonly parentSpanId: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** The ids of the spans that it is linked to. */
  readonly links: readonly string[];
  /** 2 for an error. */
  readonly status: number;
  readonly startMs: number;
  readonly endMs: number;
};

type Export = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer };

type Value = {
  stringValue?: string;
  intValue?: number;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
};

const readValue = ({ arrayValue, ...value }: Value): unknown =>
  arrayValue ? arrayValue.values.map(readValue) : Object.values(value)[0];

type Attributes = readonly { readonly key: string; readonly value: Value }[];

const attributesOf = (attributes: Attributes = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, readValue(value)]));

/** A collector: a receiver of OTLP over HTTP, which reads OTLP's JSON. */
export const startOtlpReceiver = async (status = 200) => {
  const exports: Export[] = [];
  const server = createServer(async (request, response) => {
    const received = await buffer(request);
    const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(received) : received;
    exports.push({ path: request.url ?? '', headers: request.headers, body });
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const spans = (): ExportedSpan[] =>
    exports.flatMap(({ body }) =>
      JSON.parse(body.toString()).resourceSpans.flatMap(
        ({ scopeSpans }: { scopeSpans: { spans: never[] }[] }) =>
          scopeSpans.flatMap(({ spans: exported }) => exported.map(readSpan)),
      ),
    );

  return {
    url,
    exports,
    spans,
    /** What turns traces on, towards this receiver. */
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '20',
    },
    /** Waits for this many spans of a name, and returns them in the order in which they began. */
    async named(name: string, count = 1): Promise<ExportedSpan[]> {
      const found = () => spans().filter((span) => span.name === name);
      await eventually(
        () => found().length >= count,
        () => spans().map((span) => span.name),
      );
      return found().toSorted((one, other) => one.startMs - other.startMs);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};

type Raw = Omit<ExportedSpan, 'attributes' | 'links' | 'status'> & {
  readonly attributes: Attributes;
  readonly links: readonly { readonly spanId: string }[];
  readonly status: { readonly code: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
};

const readSpan = ({ attributes, links = [], status, parentSpanId = '', ...span }: Raw): ExportedSpan => ({
  ...span,
  parentSpanId,
  attributes: attributesOf(attributes),
  links: links.map(({ spanId }) => spanId),
  status: status.code,
  startMs: Number(span.startTimeUnixNano) / 1e6,
  endMs: Number(span.endTimeUnixNano) / 1e6,
});
