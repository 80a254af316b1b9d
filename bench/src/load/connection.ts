import { createHmac, randomUUID } from "node:crypto";
import { connect, type Socket } from "node:net";
import type { HookTarget, KeyTarget, LoadTarget } from "./score.ts";

/** One keep-alive connection with at most one request under way. */
export type Connection = { send(request: Buffer): void; close(): void };

type ConnectionEvents = {
  onAnswer(connection: Connection, status: number): void;
  /** The connection ended; a response that was due will not come. */
  onBroken(connection: Connection): void;
};

const HEADER_END = Buffer.from("\r\n\r\n");
const STATUS_AT = "HTTP/1.1 ".length;
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;

/** A client that parses no more than it has to, because it shares the processors with the server. */
export function openConnection(port: number, events: ConnectionEvents): Promise<Connection> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    const connection = { send: (request: Buffer) => void socket.write(request), close: () => socket.destroy() };
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.on("error", () => {});
      socket.on("close", () => events.onBroken(connection));
      readAnswers(socket, (status) => events.onAnswer(connection, status));
      resolve(connection);
    });
  });
}

function readAnswers(socket: Socket, onAnswer: (status: number) => void): void {
  let kept: Buffer | undefined;
  socket.on("data", (chunk) => {
    const received: Buffer = kept ? Buffer.concat([kept, chunk]) : chunk;
    const status = completeStatus(received);
    kept = status === undefined ? received : undefined;
    if (status !== undefined) onAnswer(status);
  });
}

/** The status of a complete response; undefined while parts are missing. */
function completeStatus(received: Buffer): number | undefined {
  const headerEnd = received.indexOf(HEADER_END);
  if (headerEnd < 0) return undefined;
  const header = received.toString("latin1", 0, headerEnd);
  const length = CONTENT_LENGTH.exec(header)?.[1];
  if (length === undefined) throw new Error(`a response without a length: ${header}`);
  if (received.length < headerEnd + HEADER_END.length + Number(length)) return undefined;
  return Number(header.slice(STATUS_AT, STATUS_AT + 3));
}

/** The next request to a target, ready to be written. */
export function requestsOf(target: LoadTarget): () => Buffer {
  return "hooks" in target ? hookRequests(target) : keyRequests(target);
}

function keyRequests({ path, body, secrets, headers = [] }: KeyTarget): () => Buffer {
  const requests = secrets.map((secret) => requestBytes(path, body, [`authorization: Bearer ${secret}`, ...headers]));
  let turn = 0;
  return () => requests[turn++ % requests.length] as Buffer;
}

/** A sender signs as it sends. */
function hookRequests({ hooks }: HookTarget): () => Buffer {
  const run = randomUUID();
  let turn = 0;
  return () => {
    const { path, secret } = hooks[turn % hooks.length] as HookTarget["hooks"][number];
    turn += 1;
    const body = JSON.stringify({
      text: "An order has been placed",
      order: { id: `${run}-${turn}`, total: 99.5 },
      count: 3,
    });
    const t = Math.floor(Date.now() / 1000);
    const v1 = createHmac("sha256", secret).update(`${t}.${body}`).digest("hex");
    return requestBytes(path, body, [`x-service-signature: t=${t},v1=${v1}`]);
  };
}

function requestBytes(path: string, body: string, headers: readonly string[]): Buffer {
  const lines = [`POST ${path} HTTP/1.1`, "host: bench", ...headers, "content-type: application/json"];
  return Buffer.from([...lines, `content-length: ${Buffer.byteLength(body)}`, "", body].join("\r\n"));
}
