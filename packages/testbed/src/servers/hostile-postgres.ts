import { type AddressInfo, createServer, type Socket } from "node:net";

/**
 * When a connection turns hostile: instead of its greeting, of the response to `begin` or of a query's result, or while
 * idle.
 */
type HostileStage = "connect" | "begin" | "query" | "idle";

/**
 * What it does then: sends nothing more, closes the connection, sends endless rows, announces a row of a gigabyte, or
 * sends bytes that are not a message.
 */
type HostileManner = "mute" | "hang-up" | "flood" | "huge-row" | "garbage";

/** A server that speaks enough of the Postgres protocol to accept connections, and then misbehaves. */
export interface HostilePostgres extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Connections accepted so far. */
  readonly connections: number;
  /** Connections that are open now. */
  readonly open: number;
  /** What it does from now on; undefined: responds to every query with one empty row. */
  behave(next: { at: HostileStage; how: HostileManner } | undefined): void;
}

const SSL_REQUEST = 80_877_103;
const LENGTH_BYTES = 4;
const ROW_BYTES = 32_768;
const ONE_GIGABYTE = 0x4000_0000;

const READY = message("Z", Buffer.from("I"));
const IN_TRANSACTION = message("Z", Buffer.from("T"));
const GREETING = Buffer.concat([message("R", int32(0)), READY]);
const BEGUN = Buffer.concat([complete("BEGIN"), complete("SET"), IN_TRANSACTION]);
const PREPARED = Buffer.concat([message("1"), message("2"), message("T", Buffer.from([0, 0]))]);
const EMPTY_ROW = message("D", Buffer.from([0, 0]));
const RESULT = Buffer.concat([PREPARED, EMPTY_ROW, complete("SELECT 1")]);

export async function startHostilePostgres(): Promise<HostilePostgres> {
  let behaviour: { at: HostileStage; how: HostileManner } | undefined;
  let connections = 0;
  const sockets = new Set<Socket>();

  function respond(socket: Socket, stage: HostileStage, regular: Buffer): void {
    if (behaviour?.at === stage) misbehave(socket, behaviour.how);
    else socket.write(regular);
  }

  function receive(socket: Socket, kind: string, text: string): void {
    if (kind === "P") respond(socket, "query", RESULT);
    if (kind === "S" && behaviour?.at !== "query") socket.write(IN_TRANSACTION);
    if (kind !== "Q") return;
    if (text.includes("begin")) {
      respond(socket, "begin", BEGUN);
      return;
    }
    socket.write(Buffer.concat([complete(text.includes("commit") ? "COMMIT" : "ROLLBACK"), READY]));
    if (behaviour?.at === "idle") misbehave(socket, behaviour.how);
  }

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => {});
    let greeted = false;
    socket.on("data", (data) => {
      if (!greeted && data.readInt32BE(LENGTH_BYTES) === SSL_REQUEST) return void socket.write("N");
      if (!greeted) {
        greeted = true;
        return respond(socket, "connect", GREETING);
      }
      for (const { kind, text } of messagesIn(data)) receive(socket, kind, text);
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://user:password@127.0.0.1:${port}/database`,
    port,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    behave(next) {
      behaviour = next;
    },
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function misbehave(socket: Socket, how: HostileManner): void {
  if (how === "mute") return;
  if (how === "hang-up") return void socket.destroy();
  if (how === "garbage") return void socket.write(message("T", Buffer.from([0x7f, 0xff, 1, 2])));
  socket.write(PREPARED);
  if (how === "huge-row") socket.write(Buffer.concat([Buffer.from("D"), int32(ONE_GIGABYTE)]));
  const chunk = how === "flood" ? message("D", Buffer.alloc(ROW_BYTES)) : Buffer.alloc(ROW_BYTES);
  const pour = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", pour);
  pour();
}

/** The messages in a chunk; the client never splits a message over two chunks. */
function messagesIn(data: Buffer): { kind: string; text: string }[] {
  const messages = [];
  for (let at = 0; at + LENGTH_BYTES < data.length; ) {
    const end = at + 1 + data.readInt32BE(at + 1);
    messages.push({ kind: String.fromCharCode(data[at] ?? 0), text: data.toString("latin1", at + 1, end) });
    at = end;
  }
  return messages;
}

function message(kind: string, body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(kind), int32(body.length + LENGTH_BYTES), body]);
}

function complete(tag: string): Buffer {
  return message("C", Buffer.from(`${tag}\0`));
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeInt32BE(value);
  return bytes;
}
