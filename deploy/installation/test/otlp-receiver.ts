import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { BinaryReader } from "@bufbuild/protobuf/wire";

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  /** Empty: the root span. */
  parentId: string;
  name: string;
  traceState: string;
}

export interface OtlpReceiver extends AsyncDisposable {
  url: string;
  spans: ReceivedSpan[];
}

/** A receiver of OTLP over HTTP with protobuf, like a collector's port 4318. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    const isTraces = request.method === "POST" && request.url === "/v1/traces";
    if (isTraces) spans.push(...readSpans(request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body));
    response.writeHead(isTraces ? 200 : 404, { "content-type": "application/x-protobuf" }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** ExportTraceServiceRequest.resource_spans (1), its scope_spans (2), their spans (2). */
function readSpans(body: Uint8Array): ReceivedSpan[] {
  return fields(body, 1)
    .flatMap((resource) => fields(resource, 2))
    .flatMap((scope) => fields(scope, 2))
    .map((span) => ({
      traceId: hex(fields(span, 1)),
      spanId: hex(fields(span, 2)),
      traceState: Buffer.concat(fields(span, 3)).toString("utf8"),
      parentId: hex(fields(span, 4)),
      name: Buffer.concat(fields(span, 5)).toString("utf8"),
    }));
}

/** The length-delimited fields of one number. */
function fields(message: Uint8Array, wanted: number): Uint8Array[] {
  const reader = new BinaryReader(message);
  const found: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (number === wanted) found.push(reader.bytes());
    else reader.skip(type, number);
  }
  return found;
}

function hex(bytes: Uint8Array[]): string {
  return Buffer.concat(bytes).toString("hex");
}
