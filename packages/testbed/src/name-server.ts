import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";

/** What a name server of a test says to one question: addresses of both families, none, or nothing at all. */
export type Zone = (host: string, family: 4 | 6) => readonly string[] | "mute";

const IPV4 = 1;
const IPV6 = 28;
const HEADER_BYTES = 12;
const NO_SUCH_NAME = 3;
const TTL_S = 3_600;

/** A real name server: where it listens, as `address:port`, and how often a name was asked for. */
export type NameServer = AsyncDisposable & {
  readonly servers: readonly string[];
  readonly asked: (host: string) => number;
};

/** Starts a name server on loopback UDP. `zone` is asked for every question; answers may be kept for an hour. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (query, { port, address }) => {
    const { host, type, end } = questionOf(query);
    asked.push(host);
    const addresses = zone(host, type === IPV6 ? 6 : 4);
    if (addresses === "mute") return;
    const answers = addresses.filter((ip) => type === (isIPv4(ip) ? IPV4 : IPV6)).map(answerOf);
    const header = Buffer.from(query.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | (addresses.length === 0 ? NO_SUCH_NAME : 0), 2);
    header.writeUInt16BE(answers.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...answers]), port, address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    servers: [`127.0.0.1:${socket.address().port}`],
    asked: (host: string) => asked.filter((name) => name === host).length,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}

function questionOf(query: Buffer) {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { host: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answerOf(ip: string): Buffer {
  const bytes = addressBytesOf(ip);
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc00c, 0);
  record.writeUInt16BE(bytes.length === 4 ? IPV4 : IPV6, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt32BE(TTL_S, 6);
  record.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([record, bytes]);
}

function addressBytesOf(ip: string): Buffer {
  if (isIPv4(ip)) return Buffer.from(ip.split(".").map(Number));
  const compressed = new URL(`http://[${ip}]/`).hostname.slice(1, -1);
  const [left = [], right = []] = compressed.split("::").map((half) => half.split(":").filter(Boolean));
  const parts = [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right];
  return Buffer.from(parts.map((part) => part.padStart(4, "0")).join(""), "hex");
}
