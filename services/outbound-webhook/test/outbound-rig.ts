import { randomBytes } from "node:crypto";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create, toBinary } from "@bufbuild/protobuf";
import { type Client, createClient, createRouterTransport } from "@connectrpc/connect";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import {
  EventsSettledSchema,
  type WorkspaceEvent,
  WorkspaceEventBatchSchema,
  WorkspaceEventSchema,
} from "@toolgate/gen/toolgate/events/v1/workspace_event_pb";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { type Delivery, DeliveryService } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { EndpointService } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { ReplayService } from "@toolgate/gen/toolgate/outbound_webhook/v1/replay_pb";
import { UndeliveredService } from "@toolgate/gen/toolgate/outbound_webhook/v1/undelivered_pb";
import { migrate } from "@toolgate/postgres/migrate";
import { createPool, type Pool } from "@toolgate/postgres/pool";
import type { Resolver } from "@toolgate/safe-fetch/resolve";
import type { MemberRole } from "@toolgate/service-host/principal";
import { createLogger } from "@toolgate/service-host/process/logger";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import type { Service } from "@toolgate/service-host/service";
import { migrationsOf } from "@toolgate/service-registry/paths";
import { eventually } from "@toolgate/testbed/eventually";
import { principalHeaders } from "@toolgate/testbed/principals";
import { startReceiver, type TestReceiver } from "@toolgate/testbed/servers/receiver";
import { type TestServer, testNats } from "@toolgate/testbed/servers/servers";
import { serversOfRun } from "@toolgate/testbed/servers/servers-of-run";
import { testDatabase } from "@toolgate/testbed/servers/test-database";
import { testTransport } from "@toolgate/testbed/transports";
import { expect } from "vitest";
import { type Config, type ProcessRole, ROLES } from "../src/config.ts";
import { start as startService } from "../src/service.ts";

const SOURCE = "test-source";

interface RigOptions {
  /** The instances of the service to run, each with these roles. Default: one with all roles. */
  instances?: (readonly ProcessRole[])[];
  config?: Partial<Config>;
  smtpUrl?: string;
  adminEmails?: string[];
  /** The resolver for names in endpoint URLs, instead of the machine's own. */
  resolver?: Resolver;
  /** Longest time for an attempt. Default: 10 s. */
  attemptDeadlineMs?: number;
}

export interface User {
  workspaceId: string;
  role?: MemberRole;
  email?: string;
}

/** The service on real servers, with a receiver that it trusts and a clock that can be stopped and moved forward. */
export interface OutboundRig extends AsyncDisposable {
  receiver: TestReceiver;
  pool: Pool;
  bus: Bus;
  nats: TestServer;
  config: Config;
  services: Service[];
  clock: {
    now(): Date;
    advance(ms: number): void;
    /** Until it is disposed of, no time passes: an attempt under way never counts as unusually long. */
    stop(): Disposable;
  };
  endpoints(user: User): Client<typeof EndpointService>;
  deliveries(user: User): Client<typeof DeliveryService>;
  replays(user: User): Client<typeof ReplayService>;
  undelivered(user: User): Client<typeof UndeliveredService>;
  /** Registers an endpoint at a path of the receiver; returns its id and secret. */
  register(workspaceId: string, path: string, events?: string[]): Promise<{ id: bigint; secret: string }>;
  /** Reports an event as a service does; returns its id. */
  report(event: Partial<WorkspaceEvent> & { workspaceId: string }): Promise<string>;
  reportMany(events: WorkspaceEvent[]): Promise<void>;
  /** Reports this many events of a workspace in one message. */
  reportSome(workspaceId: string, count: number, type?: string): Promise<void>;
  /** Waits until the newest delivery of a workspace is like this. */
  delivery(workspaceId: string, like: Partial<Delivery>): Promise<Delivery>;
  /** Wakes the dispatchers, as after a change of the clock. */
  wake(): void;
  requestsTo(path: string): TestReceiver["requests"];
  /** Another instance on the same servers. */
  start(roles: readonly ProcessRole[]): Promise<Service>;
}

/** The part of key-auth that gives the addresses for emails. */
function keyAuthStandIn(emails: string[]): Peers {
  const transport = createRouterTransport((router) =>
    router.service(WorkspaceService, { listAdminEmails: () => ({ emails }) }),
  );
  return {
    transport: () => transport,
    call() {
      throw new Error("this service makes no hot calls");
    },
  };
}

export function newEvent(event: Partial<WorkspaceEvent> & { workspaceId: string }, now: Date): WorkspaceEvent {
  return create(WorkspaceEventSchema, {
    eventId: `evt_${randomBytes(16).toString("hex")}`,
    workspace: "acme",
    type: "custom.thing",
    created: BigInt(Math.floor(now.getTime() / 1000)),
    dataJson: '{"answer":42}',
    hop: 1,
    requestId: "",
    traceparent: "",
    tracestate: "",
    ...event,
  });
}

export async function startOutboundRig(options: RigOptions = {}): Promise<OutboundRig> {
  await using opening = new AsyncDisposableStack();
  const resources = opening.use(new AsyncDisposableStack());
  const database = resources.use(await testDatabase());
  const nats = resources.use(await testNats());
  const receiver = resources.use(await startReceiver({ tls: true }));
  const folder = await mkdtemp(join(serversOfRun().runFolder, "outbound-"));
  const targetCaFile = join(folder, "ca.pem");
  await writeFile(targetCaFile, receiver.ca ?? "");
  const config: Config = {
    natsUrl: nats.url,
    roles: new Set(ROLES),
    applicationHosts: ["gate.example"],
    allowedTargets: ["127.0.0.1"],
    targetCaFile,
    workerConcurrency: 256,
    core: {
      databaseUrl: database.url,
      databaseConnections: 6,
      sealingKeys: [{ version: 1, key: Buffer.alloc(32, 7) }],
      caps: { perGroup: 5, perMember: 2, failingPerGroup: 2 },
    },
    mail: options.smtpUrl ? { smtpUrl: options.smtpUrl, from: "toolgate@gate.example" } : undefined,
    ...options.config,
  };
  const pool = resources.adopt(createPool({ url: database.url, maxConnections: 4, applicationName: "rig" }), (owned) =>
    owned.end(),
  );
  await migrate({ pool, ...migrationsOf("outbound-webhook") });
  const bus = resources.use(await connectBus({ servers: nats.url, name: "rig" }));
  const log = createLogger({ service: "test", level: process.env.TEST_LOG_LEVEL ?? "silent" });
  let aheadMs = 0;
  let stoppedMs: number | undefined;
  const now = () => new Date((stoppedMs ?? Date.now()) + aheadMs);
  const services: Service[] = [];
  async function start(roles: readonly ProcessRole[]): Promise<Service> {
    const only = { ...config, roles: new Set(roles) };
    const host = { log, now: () => now().getTime(), peers: keyAuthStandIn(options.adminEmails ?? []) };
    const { resolver, attemptDeadlineMs } = options;
    const service = await startService(only, host, {
      ...(resolver && { resolver }),
      ...(attemptDeadlineMs !== undefined && { attemptDeadlineMs }),
    });
    services.push(resources.use(service));
    return service;
  }
  for (const roles of options.instances ?? [ROLES]) await start(roles);

  const manager = services[0] as Service;
  const transport = testTransport((router) => manager.routes(router), log);
  const headersOf = (user: User) =>
    principalHeaders({
      userId: "user",
      email: user.email ?? "someone@acme.example",
      workspaceId: user.workspaceId,
      workspace: "acme",
      role: user.role ?? "manager",
    });
  const endpoints = (user: User) => withHeaders(createClient(EndpointService, transport), headersOf(user));
  const deliveries = (user: User) => withHeaders(createClient(DeliveryService, transport), headersOf(user));
  const replays = (user: User) => withHeaders(createClient(ReplayService, transport), headersOf(user));
  const undelivered = (user: User) => withHeaders(createClient(UndeliveredService, transport), headersOf(user));
  async function reportMany(events: WorkspaceEvent[]): Promise<void> {
    const batch = toBinary(WorkspaceEventBatchSchema, create(WorkspaceEventBatchSchema, { events }));
    await bus.js.publish(`events.${SOURCE}`, batch);
  }
  opening.move();
  return {
    receiver,
    pool,
    bus,
    nats,
    config,
    services,
    clock: {
      now,
      advance(ms) {
        aheadMs += ms;
      },
      stop() {
        stoppedMs = Date.now();
        return {
          [Symbol.dispose]() {
            stoppedMs = undefined;
          },
        };
      },
    },
    endpoints,
    deliveries,
    replays,
    undelivered,
    async register(workspaceId, path, events = ["custom.*"]) {
      const created = await endpoints({ workspaceId }).createEndpoint({ url: `${receiver.url}${path}`, events });
      return { id: created.endpoint?.id ?? 0n, secret: created.secret };
    },
    async report(event) {
      const made = newEvent(event, now());
      await reportMany([made]);
      return made.eventId;
    },
    reportMany,
    reportSome: (workspaceId, count, type = "custom.thing") =>
      reportMany(Array.from({ length: count }, () => newEvent({ workspaceId, type }, now()))),
    delivery: (workspaceId, like) =>
      eventually(async () => {
        const [newest = expect.fail("no delivery")] = (await deliveries({ workspaceId }).listDeliveries({})).deliveries;
        expect(newest).toMatchObject(like);
        return newest;
      }),
    wake: () => bus.nc.publish("dispatch.wake"),
    requestsTo: (path) => receiver.requests.filter((request) => request.path === path),
    start,
    async [Symbol.asyncDispose]() {
      // Ends the attempts that the receiver holds, for which the service would wait.
      await receiver[Symbol.asyncDispose]();
      await resources.disposeAsync();
    },
  };
}

/** The principal of a management call comes from the gateway, in a header. */
// biome-ignore lint/suspicious/noExplicitAny: every method of a client takes a request and options
function withHeaders<C extends Record<string, any>>(client: C, headers: Record<string, string>): C {
  return new Proxy(client, {
    get: (target, name: string) => (request: unknown) => target[name]?.(request, { headers }),
  });
}

export const settledSubject = `settled.${SOURCE}`;
export const SettledSchema = EventsSettledSchema;
