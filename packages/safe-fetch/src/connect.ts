import type { Socket } from "node:net";
import { connect as connectTcp } from "node:net";
import { performance } from "node:perf_hooks";
import type { SecureContext } from "node:tls";
import { connect as connectTls } from "node:tls";
import { literalAddress } from "./resolve.ts";
import type { ConnectionFailure } from "./result.ts";
import { classifyFailure } from "./result.ts";
import type { Stop } from "./stop.ts";
import type { TargetUrl } from "./target-url.ts";

/** At most this many checked addresses of one name are tried in one send. */
const MAX_CONNECT_ATTEMPTS = 3;

/** How connecting ended, with the phases in milliseconds; `phase` is the one that was stopped. */
type ConnectOutcome = { address: string | null; connectMs: number | null; tlsMs: number | null } & (
  | { kind: "connected"; socket: Socket }
  | { kind: "failed"; failure: ConnectionFailure }
  | { kind: "stopped"; phase: "connect" | "tls" }
);

/**
 * Connects to exactly one of the checked addresses, never by name, and completes TLS with the name of the target:
 * SNI and the certificate check use it, and validation is always on. The next address is tried only when TCP itself
 * fails. [SSRF-6]
 */
export async function connectPinned(
  target: Pick<TargetUrl, "url" | "host" | "port">,
  addresses: readonly string[],
  secureContext: SecureContext,
  stop: Stop,
): Promise<ConnectOutcome> {
  let outcome: ConnectOutcome = { kind: "stopped", phase: "connect", address: null, connectMs: null, tlsMs: null };
  for (const address of addresses.slice(0, MAX_CONNECT_ATTEMPTS)) {
    if (stop.reason !== undefined) return { ...outcome, kind: "stopped", phase: "connect" };
    outcome = await connectOne(target, address, secureContext, stop);
    if (outcome.kind !== "failed" || outcome.connectMs !== null) break;
  }
  return outcome;
}

function connectOne(
  target: Pick<TargetUrl, "url" | "host" | "port">,
  address: string,
  secureContext: SecureContext,
  stop: Stop,
): Promise<ConnectOutcome> {
  return new Promise((resolve) => {
    const secure = target.url.protocol === "https:";
    const began = performance.now();
    let tcpUpAt: number | undefined;
    let settled = false;
    const socket = secure ? openTls(target, address, secureContext) : connectTcp(tcpOptions(address, target.port));
    const settle = (end: { kind: "connected" } | { kind: "failed"; error: unknown } | { kind: "stopped" }) => {
      if (settled) return;
      settled = true;
      stop.onFire(undefined);
      const phases = {
        address,
        connectMs: tcpUpAt === undefined ? null : tcpUpAt - began,
        tlsMs: secure && tcpUpAt !== undefined ? performance.now() - tcpUpAt : null,
      };
      if (end.kind === "connected") return resolve({ ...phases, kind: "connected", socket });
      socket.destroy();
      if (end.kind === "stopped") {
        return resolve({ ...phases, kind: "stopped", phase: tcpUpAt === undefined ? "connect" : "tls" });
      }
      resolve({ ...phases, kind: "failed", failure: classifyFailure(end.error, tcpUpAt !== undefined) });
    };
    stop.onFire(() => settle({ kind: "stopped" }));
    socket.setNoDelay(true);
    socket.on("error", (error) => settle({ kind: "failed", error }));
    socket.once("connect", () => {
      tcpUpAt = performance.now();
      if (!secure) settle({ kind: "connected" });
    });
    if (secure) socket.once("secureConnect", () => settle({ kind: "connected" }));
  });
}

function openTls(target: Pick<TargetUrl, "host" | "port">, address: string, secureContext: SecureContext): Socket {
  const isName = literalAddress(target.host) === undefined;
  return connectTls({
    ...tcpOptions(address, target.port),
    ...(isName ? { servername: target.host } : {}),
    secureContext,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
  });
}

function tcpOptions(address: string, port: number) {
  return { host: address, port, autoSelectFamily: false, lookup: refuseLookup };
}

/** An address needs no lookup, so a lookup would mean that something other than the checked address is connected to. */
function refuseLookup(_host: string, _options: unknown, callback: (error: Error, address: string) => void): void {
  callback(new Error("names are not looked up again"), "");
}
