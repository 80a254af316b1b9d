import type { Socket } from "node:net";
import { connect as connectTcp } from "node:net";
import { performance } from "node:perf_hooks";
import type { SecureContext, TLSSocket } from "node:tls";
import { connect as connectTls } from "node:tls";
import type { Stop } from "./exchange.ts";
import { literalAddress } from "./resolve.ts";
import type { ConnectionFailure } from "./result.ts";
import { classifyFailure } from "./result.ts";
import type { TargetUrl } from "./target-url.ts";
import type { TlsSessions } from "./tls-sessions.ts";

/** At most this many checked addresses of one name are tried in one send. */
const MAX_CONNECT_ATTEMPTS = 3;

type TlsOptions = {
  secureContext: SecureContext;
  sessions: TlsSessions;
  /** Undefined: no session is resumed or kept. */
  sessionKey: string | undefined;
};

/** How connecting ended, with the phases in milliseconds; `phase` is the one that was stopped. */
type ConnectOutcome = { address: string | null; connectMs: number | null; tlsMs: number | null } & (
  | { kind: "connected"; socket: Socket }
  | { kind: "failed"; failure: ConnectionFailure }
  | { kind: "stopped"; phase: "connect" | "tls" }
);

/**
 * Connects to exactly one of the checked addresses, never by name, and completes TLS with the name of the target:
 * SNI and the certificate check use it, validation is always on; a resumed session was validated under the same key. The
 * next address is tried only when TCP itself fails. [SSRF-6]
 */
export async function connectPinned(
  target: Pick<TargetUrl, "url" | "host" | "port">,
  addresses: readonly string[],
  tls: TlsOptions,
  stop: Stop,
): Promise<ConnectOutcome> {
  let outcome: ConnectOutcome = { kind: "stopped", phase: "connect", address: null, connectMs: null, tlsMs: null };
  for (const address of addresses.slice(0, MAX_CONNECT_ATTEMPTS)) {
    if (stop.reason !== undefined) return { ...outcome, kind: "stopped", phase: "connect" };
    outcome = await connectOne(target, address, tls, stop);
    if (outcome.kind !== "failed" || outcome.connectMs !== null) break;
  }
  return outcome;
}

function connectOne(
  target: Pick<TargetUrl, "url" | "host" | "port">,
  address: string,
  tls: TlsOptions,
  stop: Stop,
): Promise<ConnectOutcome> {
  return new Promise((resolve) => {
    const secure = target.url.protocol === "https:";
    const began = performance.now();
    let tcpUpAt: number | undefined;
    let settled = false;
    const socket = secure ? openTls(target, address, tls) : connectTcp(tcpOptions(address, target.port));
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
      // Perhaps the handshake failed, or did not end, because of the session.
      if (tls.sessionKey !== undefined) tls.sessions.forget(tls.sessionKey);
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

function openTls(
  target: Pick<TargetUrl, "host" | "port">,
  address: string,
  { secureContext, sessions, sessionKey }: TlsOptions,
): Socket {
  const isName = literalAddress(target.host) === undefined;
  const kept = sessionKey === undefined ? undefined : sessions.get(sessionKey);
  const socket = connectTls({
    ...tcpOptions(address, target.port),
    ...(isName ? { servername: target.host } : {}),
    ...(kept ? { session: kept.session } : {}),
    secureContext,
    ALPNProtocols: ["http/1.1"],
    rejectUnauthorized: true,
  });
  if (sessionKey === undefined) return socket;
  keepSessions(socket, (session) => {
    sessions.put(sessionKey, session, socket.isSessionReused() ? kept?.checkedAtMs : undefined);
  });
  return socket;
}

/** A session comes before the certificate is checked (TLS 1.2) or after that. */
function keepSessions(socket: TLSSocket, keep: (session: Buffer) => void): void {
  let early: Buffer | undefined;
  socket.on("session", (session: Buffer) => {
    if (socket.authorized) keep(session);
    else early = session;
  });
  socket.once("secureConnect", () => {
    if (early && socket.authorized) keep(early);
  });
}

function tcpOptions(address: string, port: number) {
  return { host: address, port, autoSelectFamily: false, lookup: refuseLookup };
}

/** An address needs no lookup, so a lookup would mean that something other than the checked address is connected to. */
function refuseLookup(_host: string, _options: unknown, callback: (error: Error, address: string) => void): void {
  callback(new Error("names are not looked up again"), "");
}
