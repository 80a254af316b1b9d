import type { ConnectRouter } from "@connectrpc/connect";
import { type Metrics, startMetrics } from "@toolgate/telemetry/sdk";
import { startTracing } from "@toolgate/telemetry/tracing";
import { type Env, readAll } from "../env.ts";
import { principalKeysOf } from "../identity/principal-keys.ts";
import { type IdentitySettings, readIdentity } from "../identity/service-keys.ts";
import { createCallerReader, createServiceTokens, type ServiceTokens } from "../identity/service-token.ts";
import { createTextReaders } from "../identity/signed-text.ts";
import { hotCallStreams, unaryRoutes } from "../rpc/hot-calls.ts";
import { isServiceName, type Peers, type PeerUrls, readPeerUrls, remotePeers } from "../rpc/peers.ts";
import { startRpcServer } from "../rpc/rpc-server.ts";
import type { Service, ServiceDefinition } from "../service.ts";
import { openProcessTls, type ProcessTls } from "../tls/process-tls.ts";
import { type HostConfig, readHostConfig } from "./host-config.ts";
import type { Logger } from "./logger.ts";
import { startOpsServer } from "./ops-server.ts";
import { createReadiness } from "./readiness.ts";
import { runProcess } from "./run-process.ts";

/**
 * Runs one service as this process: starts it, serves its RPCs and probes, and logs a line "started" with its ports. It is
 * not ready before that. On SIGTERM or SIGINT it drains and ends with exit code 0; further signals change nothing, and a
 * signal during the start cancels the start.
 */
export function launch<C>(definition: ServiceDefinition<C>, env: Env = process.env): Promise<void> {
  const { name } = definition;
  return runProcess(name, async (stopped, openLog) => {
    const [host, config, peerUrls, identity] = readAll<[HostConfig, C, PeerUrls, IdentitySettings]>(env, [
      readHostConfig,
      definition.readConfig,
      (all) => readPeerUrls(all, name),
      (all) => readIdentity(all, name),
    ]);
    const log = openLog(host.logLevel);
    await using tls = host.tlsFiles && (await openProcessTls(host.tlsFiles, { log }));
    await using peers = remotePeers(peerUrls, { log, tokens: tokensOf(name, identity), tls });
    await using metrics = startMetrics();
    await using _tracing = await startTracing(name, env);
    const starting = definition.start(config, { log, now: Date.now, peers, tls });
    await run(name, starting, { ...host, ...identity, peers, tls, scrape: metrics.scrape }, log, stopped);
  });
}

interface RunSettings extends HostConfig, IdentitySettings, Pick<Metrics, "scrape"> {
  peers: Peers;
  tls: ProcessTls | undefined;
}

/** What a process signs with that calls other services. */
function tokensOf(name: string, { serviceKey }: IdentitySettings): ServiceTokens {
  if (serviceKey && isServiceName(name)) return createServiceTokens(name, serviceKey, Date.now);
  return () => Promise.reject(new Error(`${name} has no SERVICE_KEY`));
}

async function run(
  name: string,
  starting: Promise<Service>,
  { host, rpcPort, opsPort, publicKeys, peers, tls, scrape }: RunSettings,
  log: Logger,
  stopped: Promise<string>,
): Promise<void> {
  // A start that was cancelled may still fail.
  starting.catch(() => {});
  await using service = await Promise.race([starting, stopped.then(() => undefined)]);
  if (service === undefined) return log.info({ signal: await stopped }, "start cancelled");
  let listening = false;
  const readiness = createReadiness(async () => {
    // The probes are served first, and a process that cannot bind its port ends.
    if (!listening) throw new Error("the RPC port is not open yet");
    await service.ready();
  });
  const draining = new AbortController();
  const { principals } = createTextReaders({
    // Loaded when the first principal comes, so that the service starts and serves hot calls without key-auth.
    keySet: () => service.principalKeys?.() ?? principalKeysOf(peers)(),
    now: Date.now,
    onError: (error) => log.warn({ err: error }, "key-auth's public keys"),
  });
  const authentication = { callers: createCallerReader(name, publicKeys, Date.now), principals };
  const unary = unaryRoutes(name, service);
  const streams = hotCallStreams(name, service, { log, drainSignal: draining.signal });
  const routes = (router: ConnectRouter) => {
    unary(router);
    streams.routes(router);
  };
  // Disposed after the RPC server, so that probes get responses to the end.
  await using ops = await startOpsServer({ readiness, host, port: opsPort, scrape });
  await using rpc = await startRpcServer({ routes, host, port: rpcPort, authentication, readiness, log, tls });
  listening = true;
  log.info({ rpcPort: rpc.port, opsPort: ops.port }, "started");
  const signal = await stopped;
  log.info({ signal }, "draining");
  readiness.markDraining();
  draining.abort();
  await Promise.all([service.drain(), streams.untilIdle()]);
}
