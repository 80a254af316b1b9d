import { connect } from "node:net";

const DEADLINE_MS = 60_000;
const HEAD_END = "\r\n\r\n";

export interface RawResponse {
  status: number;
  /** Names as sent, in the order in which they were sent. */
  headers: [name: string, value: string][];
  text: string;
}

export interface RawRequest {
  method?: string;
  target: string;
  version?: string;
  headers?: readonly (readonly [name: string, value: string | Uint8Array])[];
  body?: string | Uint8Array;
  /** Leaves out Content-Length, for a body whose length is stated in another way, wrongly or not at all. */
  withoutLength?: boolean;
}

interface RawConnection extends Disposable {
  /** Resolves once the bytes are with the kernel or the connection is closed, which `nextResponse` then shows. */
  write(bytes: string | Uint8Array): Promise<void>;
  /** Ends its own side of the connection and keeps reading. */
  end(): void;
  /** The next response, including 1xx; undefined when the server closed the connection without one. */
  nextResponse(request?: { bodyless: boolean }): Promise<RawResponse | undefined>;
  /** Resolves once the server has closed the connection. */
  closed: Promise<void>;
  /** Closes the connection. */
  cut(): void;
}

/** A request byte for byte, with Host and Content-Length unless they are given. */
export function requestBytes({ method = "POST", target, version = "1.1", ...request }: RawRequest): Buffer {
  const { headers = [], body = "", withoutLength = false } = request;
  const content = Buffer.from(body);
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [Buffer.from(`${method} ${target} HTTP/${version}\r\n`, "latin1")];
  const add = (name: string, value: string | Uint8Array) =>
    lines.push(Buffer.from(`${name}: `, "latin1"), Buffer.from(value), Buffer.from("\r\n"));
  if (!names.has("host")) add("host", "gateway.test");
  if (!withoutLength && !names.has("content-length")) add("content-length", String(content.length));
  for (const [name, value] of headers) add(name, value);
  return Buffer.concat([...lines, Buffer.from("\r\n"), content]);
}

/** A TCP connection for requests that may be malformed in any way. */
export function openRaw(baseUrl: string): RawConnection {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect({ host: hostname, port: Number(port) });
  const { promise: closed, resolve: onClosed } = Promise.withResolvers<void>();
  let received = Buffer.alloc(0);
  let ended = false;
  let wake = () => {};
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    ended = true;
    onClosed();
    wake();
  });
  return {
    closed,
    write: (bytes) => new Promise((resolve) => (socket.destroyed ? resolve() : socket.write(bytes, () => resolve()))),
    end: () => socket.end(),
    async nextResponse({ bodyless } = { bodyless: false }) {
      const deadline = AbortSignal.timeout(DEADLINE_MS);
      deadline.addEventListener("abort", () => wake());
      for (;;) {
        const parsed = parseResponse(received, { bodyless, ended });
        if (parsed) {
          received = received.subarray(parsed.length);
          return parsed.response;
        }
        if (ended) return undefined;
        if (deadline.aborted)
          throw new Error(`no whole response within ${DEADLINE_MS} ms: ${received.toString("latin1")}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    cut: () => socket.destroy(),
    [Symbol.dispose]: () => socket.destroy(),
  };
}

/** One request on its own connection. */
export async function sendRaw(baseUrl: string, request: RawRequest): Promise<RawResponse | undefined> {
  using connection = openRaw(baseUrl);
  void connection.write(requestBytes(request));
  return await connection.nextResponse({ bodyless: request.method === "HEAD" });
}

/** The values of a header. */
export function headerValues(response: RawResponse, name: string): string[] {
  return response.headers.filter(([sent]) => sent.toLowerCase() === name).map(([, value]) => value);
}

function parseResponse(
  bytes: Buffer,
  { bodyless, ended }: { bodyless: boolean; ended: boolean },
): { response: RawResponse; length: number } | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd === -1) return undefined;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(statusLine.split(" ")[1]);
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()];
  });
  const response = { status, headers, text: "" };
  const start = headEnd + HEAD_END.length;
  if (bodyless || status < 200 || status === 204 || status === 304) return { response, length: start };
  const body = readBody(bytes.subarray(start), response, ended);
  return body && { response: { ...response, text: body.content.toString("utf8") }, length: start + body.length };
}

function readBody(
  bytes: Buffer,
  response: RawResponse,
  ended: boolean,
): { content: Buffer; length: number } | undefined {
  if (headerValues(response, "transfer-encoding").includes("chunked")) return readChunks(bytes);
  const [contentLength] = headerValues(response, "content-length");
  if (contentLength === undefined) return ended ? { content: bytes, length: bytes.length } : undefined;
  const length = Number(contentLength);
  return bytes.length < length ? undefined : { content: bytes.subarray(0, length), length };
}

function readChunks(bytes: Buffer): { content: Buffer; length: number } | undefined {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return undefined;
    parts.push(bytes.subarray(start, start + size));
    at = start + size + 2;
    if (size === 0) return { content: Buffer.concat(parts), length: at };
  }
}
