import type { ConnectRouter } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import type { JSONWebKeySet } from "jose";
import type { Env } from "./env.ts";
import type { Logger } from "./process/logger.ts";
import type { Peers } from "./rpc/peers.ts";
import type { ProcessTls } from "./tls/process-tls.ts";

/** What the process gives to each service that it runs. */
export interface ServiceHost {
  log: Logger;
  /** Milliseconds since 1970. */
  now: () => number;
  /** The services that it calls, in the same process or in others. */
  peers: Peers;
  /** The process's certificates, if connections between processes are encrypted; `peers` uses them. */
  tls?: ProcessTls | undefined;
}

/** What every service exports as `service` from its `service.ts`. */
export interface ServiceDefinition<Config> {
  readonly name: string;
  /** Throws one error that names every variable that is missing or malformed. */
  readConfig(env: Env): Config;
  start(config: Config, host: ServiceHost): Promise<Service>;
}

/** A running service. */
export interface Service extends AsyncDisposable {
  /** Registers the service's RPCs. */
  routes(router: ConnectRouter): void;
  /** The handlers of its hot calls by the method's local name, for callers in the same process. */
  // biome-ignore lint/suspicious/noExplicitAny: each handler has its own request and response types.
  readonly hotCalls?: Readonly<Record<string, CallHandler<any, any>>>;
  /** Only of key-auth: the public keys that verify principals, which other services get from its RPC. */
  principalKeys?(): Promise<JSONWebKeySet>;
  /** Resolves when the service can do its work; rejects with the reason when it can't. */
  ready(): Promise<void>;
  /**
   * Stops taking new work, and resolves when all work that may last longer than a unary call has finished. The RPC
   * server waits for unary calls.
   */
  drain(): Promise<void>;
}
