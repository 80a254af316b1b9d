import { connect as connectTcp, type Socket } from "node:net";
import { performance } from "node:perf_hooks";
import { connect as connectTls, type SecureContext } from "node:tls";
import { Connection } from "./connection.ts";
import type { Progress } from "./progress.ts";
import { literalAddress } from "./resolve.ts";
import type { TargetUrl } from "./target-url.ts";

/** At most this many checked addresses of one name are tried in one send. */
const MAX_CONNECT_ATTEMPTS = 3;

/**
 * Connects to exactly one of the checked addresses, never by name, and completes TLS with the name of the target:
 * SNI and the certificate check use it, and validation is always on. The next address is tried only when TCP itself
 * fails. Rejects with the last error. [SSRF-6]
 */
export async function connectPinned(
  target: TargetUrl,
  addresses: readonly string[],
  secureContext: SecureContext,
  progress: Progress,
): Promise<Connection> {
  let failure: unknown;
  for (const address of addresses.slice(0, MAX_CONNECT_ATTEMPTS)) {
    progress.phase = "connect";
    progress.timings.address = address;
    try {
      const socket = await connectOne(target, address, secureContext, progress);
      return new Connection(target.url.origin, address, socket);
    } catch (error) {
      failure = error;
      if (progress.signal.aborted || progress.timings.connectMs !== null) break;
    }
  }
  throw failure;
}

function connectOne(
  { url, host, port }: TargetUrl,
  address: string,
  secureContext: SecureContext,
  progress: Progress,
): Promise<Socket> {
  const { signal } = progress;
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const began = performance.now();
  let connectedAt = 0;
  const tcp = { host: address, port, autoSelectFamily: false, lookup: refuseLookup };
  const name = literalAddress(host) === undefined ? { servername: host } : {};
  const tls = { ...tcp, ...name, secureContext, ALPNProtocols: ["http/1.1"], rejectUnauthorized: true };
  const secure = url.protocol === "https:";
  const socket = secure ? connectTls(tls) : connectTcp(tcp);
  const stop = () => socket.destroy(new Error("stopped"));
  signal.addEventListener("abort", stop);
  socket.setNoDelay(true);
  socket.on("error", reject);
  socket.once("connect", () => {
    connectedAt = performance.now();
    progress.timings.connectMs = connectedAt - began;
    if (secure) progress.phase = "tls";
    else resolve(socket);
  });
  if (secure) socket.once("secureConnect", () => resolve(socket));
  return promise.finally(() => {
    signal.removeEventListener("abort", stop);
    if (progress.phase === "tls") progress.timings.tlsMs = performance.now() - connectedAt;
  });
}

/** An address needs no lookup, so a lookup would mean that something other than the checked address is connected to. */
function refuseLookup(_host: string, _options: unknown, callback: (error: Error, address: string) => void): void {
  callback(new Error("names are not looked up again"), "");
}
