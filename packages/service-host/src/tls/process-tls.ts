import { isIP } from "node:net";
import { type ConnectionOptions, connect, type Server, type TLSSocket, type TlsOptions } from "node:tls";
import { runEvery } from "../every.ts";
import type { Logger } from "../process/logger.ts";
import { type Certificates, certificatesFrom, MIN_VERSION, readTexts } from "./certificates.ts";
import { logRefusals } from "./refusals.ts";
import type { TlsFiles } from "./settings.ts";

/**
 * The certificates of a process, for its connections to and from other processes of the installation. Both sides show
 * theirs. Disposing ends the watch of the files.
 */
export interface ProcessTls extends AsyncDisposable {
  /** For a server that admits only clients with a certificate; see `follow`. */
  serverOptions(): TlsOptions;
  /** The server uses new certificates as soon as they are loaded, for new connections. */
  follow(server: Server): void;
  /**
   * For a connection to a base URL, with the certificates of this moment. The server's must be valid for the host in the
   * URL, or for the name behind `#` where the host is only the address of that name.
   */
  clientOptions(address: string): ConnectionOptions;
  /** Connects to a server of HTTP/2. */
  connectHttp2(address: string): TLSSocket;
}

interface Watch {
  log: Logger;
  /** Time between two looks at the files. */
  everyMs?: number;
  now?: () => number;
}

const LOOK_EVERY_MS = 5_000;
/** Processes connect within milliseconds. */
const HANDSHAKE_MS = 5_000;

/**
 * Loads the certificates, and loads them again when the files change; files that cannot be used change nothing, and are
 * logged once. Rejects with what is wrong when they cannot be used at the start.
 */
export async function openProcessTls(files: TlsFiles, watch: Watch): Promise<ProcessTls> {
  const { log, everyMs = LOOK_EVERY_MS, now = Date.now } = watch;
  const servers = new Set<Server>();
  let current = await load();
  let [seen, reported] = ["", ""];

  async function load(): Promise<Certificates> {
    try {
      return certificatesFrom(await readTexts(files), now());
    } catch (error) {
      throw new Error(`certificates: ${(error as Error).message}`);
    }
  }

  // The content is compared: what changes may be a folder that a symbolic link names.
  async function look(): Promise<void> {
    const { cert, key, ca } = await readTexts(files);
    if (cert === current.cert && key === current.key && ca === current.ca) return;
    current = certificatesFrom({ cert, key, ca }, now());
    for (const server of servers) server.setSecureContext(serverContext());
    log.info({ expires: new Date(current.expiresAtMs) }, "certificates loaded");
  }

  // Files that are just being replaced fit together again at the next look.
  function onFailure(error: unknown): void {
    const { message } = error as Error;
    if (message === seen && message !== reported) {
      log.error({ err: error }, "new certificates cannot be used; the old ones stay in use");
      reported = message;
    }
    seen = message;
  }

  const serverContext = () => ({
    cert: current.cert,
    key: current.key,
    ca: current.ca,
    minVersion: MIN_VERSION,
  });
  const clientOptions = (address: string): ConnectionOptions => {
    const { hostname, port, hash } = new URL(address);
    const host = hostname.replace(/^\[|\]$/gu, "");
    const serverName = hash === "" ? host : hash.slice(1);
    return {
      host,
      port: Number(port || 443),
      // An address is no name that could be sent to the server, but it is checked all the same.
      ...(isIP(serverName) === 0 && { servername: serverName }),
      secureContext: current.context,
      rejectUnauthorized: true,
    };
  };

  const closing = new AbortController();
  const looking = runEvery(
    everyMs,
    closing.signal,
    async () => {
      await look();
      [seen, reported] = ["", ""];
    },
    onFailure,
  );
  return {
    serverOptions: () => ({
      ...serverContext(),
      requestCert: true,
      rejectUnauthorized: true,
      handshakeTimeout: HANDSHAKE_MS,
    }),
    follow(server) {
      servers.add(server);
      server.on("close", () => servers.delete(server));
      logRefusals(server, log);
    },
    clientOptions,
    connectHttp2: (address) => connect({ ...clientOptions(address), ALPNProtocols: ["h2"] }),
    async [Symbol.asyncDispose]() {
      closing.abort();
      await looking;
    },
  };
}
