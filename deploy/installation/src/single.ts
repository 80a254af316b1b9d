import { type Env, readAll } from "@toolgate/service-host/env";
import type { Logger } from "@toolgate/service-host/process/logger";
import { localServices } from "@toolgate/service-host/rpc/local-services";
import type { Service, ServiceDefinition } from "@toolgate/service-host/service";
import type { ProcessTls } from "@toolgate/service-host/tls/process-tls";
import { SERVICE_NAMES, serviceEntry } from "@toolgate/service-registry/services";

/** All services in this process. */
interface SingleInstallation extends Service {
  /** Where the gateway listens. */
  readonly port: number;
}

/** The services as they are started, by name; tool-runner does what the sandbox does elsewhere. */
export const DEFINITIONS = await Promise.all(
  SERVICE_NAMES.filter((name) => !serviceEntry(name).isBare).map(async (name) => {
    const { service } = await import(`@toolgate/${name}/service`);
    return [name, service as ServiceDefinition<unknown>] as const;
  }),
);

/**
 * The configurations of all services; `own` are variables of one service that replace those of all. Throws one error that
 * names what is wrong in any of them.
 */
export function readAllConfigs(env: Env, own: Readonly<Record<string, Env>> = {}): readonly unknown[] {
  const readers = DEFINITIONS.map(
    ([name, definition]) =>
      (all: Env) =>
        definition.readConfig({ ...all, ...own[name] }),
  );
  return readAll<unknown[]>(env, readers);
}

/**
 * The single topology: all services in one process. Hot calls are function calls; all other calls go through the same
 * routes and interceptors, without a network. `tls` is for the service sandbox, if there is one.
 */
export async function startSingle(
  configs: readonly unknown[],
  log: Logger,
  tls?: ProcessTls,
): Promise<SingleInstallation> {
  await using resources = new AsyncDisposableStack();
  const services = localServices({ log });
  const running: Service[] = [];
  for (const [index, [name, definition]] of DEFINITIONS.entries()) {
    const host = { log: log.child({ service: name }), now: Date.now, peers: services.peersOf(name), tls };
    const service = resources.use(await definition.start(configs[index], host));
    services.add(name, service);
    running.push(service);
  }
  const owned = resources.move();
  return {
    port: running.find((service): service is SingleInstallation => "port" in service)?.port ?? 0,
    routes() {},
    async ready() {
      await Promise.all(running.map((service) => service.ready()));
    },
    async drain() {
      // Callers stop first, so that no service drains while another may still call it.
      for (const service of running.toReversed()) await service.drain();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
