import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";
import type { Env } from "@toolgate/service-host/env";
import { RESPONSE_MS } from "./finding.ts";

export type ServerKind = "postgres" | "redis" | "nats";

/** PostgreSQL's request for encryption: its length, and the number of the request. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const AGREED = "S".charCodeAt(0);

/** When the certificate that a server shows expires, in milliseconds since 1970. Rejects if it shows none. */
export async function certificateOfServer(kind: ServerKind, { hostname, port }: URL): Promise<number> {
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
  return within(socket, async (signal) => {
    await once(socket, "connect", { signal });
    if (kind === "postgres") {
      socket.write(SSL_REQUEST);
      const [reply] = (await once(socket, "data", { signal })) as [Buffer];
      if (reply[0] !== AGREED) throw new Error("no encryption");
    }
    // NATS introduces itself before the encryption begins.
    if (kind === "nats") await once(socket, "data", { signal });
    return expiryShown({ socket }, signal);
  });
}

/** As `certificateOfServer`, of a process, which wants to see a certificate too. */
export async function certificateOfProcess({ hostname, port }: URL, env: Env): Promise<number> {
  const [cert, key] = await Promise.all([readFile(env.TLS_CERT_FILE ?? ""), readFile(env.TLS_KEY_FILE ?? "")]);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
  return within(socket, async (signal) => {
    await once(socket, "connect", { signal });
    return expiryShown({ socket, cert, key, ALPNProtocols: ["h2"] }, signal);
  });
}

/** Only the date is of interest here: other checks say whether the certificate is accepted. */
async function expiryShown(options: ConnectionOptions, signal: AbortSignal): Promise<number> {
  const secure = connectTls({ ...options, rejectUnauthorized: false });
  try {
    await once(secure, "secureConnect", { signal });
    const certificate = secure.getPeerX509Certificate();
    if (!certificate) throw new Error("no certificate");
    return certificate.validToDate.getTime();
  } finally {
    secure.destroy();
  }
}

async function within<T>(socket: Socket, use: (signal: AbortSignal) => Promise<T>): Promise<T> {
  // What happens after the first error does not matter.
  socket.on("error", () => {});
  try {
    return await use(AbortSignal.timeout(RESPONSE_MS));
  } finally {
    socket.destroy();
  }
}
