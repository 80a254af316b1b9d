import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode } from "dns-packet";

/** The addresses of a name, of both families; empty: the name does not exist; "mute": the server does not respond. */
type Zone = (host: string, family: 4 | 6) => readonly string[] | "mute";

const NO_SUCH_NAME = 3;
const TTL_S = 3_600;

/** A real name server: where it listens, as `address:port`, and how often a name was looked up. */
export type NameServer = AsyncDisposable & {
  readonly servers: readonly string[];
  readonly asked: (host: string) => number;
};

/** Starts a name server on loopback UDP. `zone` is called for every query; clients may cache responses for an hour. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (message, { port, address }) => {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (!question) return;
    const name = question.name.toLowerCase();
    asked.push(name);
    const addresses = zone(name, question.type === "AAAA" ? 6 : 4);
    if (addresses === "mute") return;
    const records = addresses.map(
      (data): Answer => ({ type: isIPv4(data) ? "A" : "AAAA", name: question.name, ttl: TTL_S, data }),
    );
    const answers = records.filter(({ type }) => type === question.type);
    const flags = AUTHORITATIVE_ANSWER | (addresses.length === 0 ? NO_SUCH_NAME : 0);
    socket.send(
      encode({ type: "response", ...(id !== undefined && { id }), flags, questions, answers }),
      port,
      address,
    );
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  return {
    servers: [`127.0.0.1:${socket.address().port}`],
    asked: (host) => asked.filter((name) => name === host).length,
    async [Symbol.asyncDispose]() {
      socket.close();
      await once(socket, "close");
    },
  };
}
