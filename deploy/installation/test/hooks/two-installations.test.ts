import { writeFile } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { createServer, type Server } from "node:tls";
import { makeLoopbackCertificate } from "@toolgate/local-servers/certificate";
import { eventually } from "@toolgate/testbed/eventually";
import { temporaryFolder } from "@toolgate/testbed/temporary-folder";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { createHook, hookLog, resultOf, type TestHook } from "./hooks.ts";

interface Delivery {
  id: string;
  eventType: string;
  status: string;
  responseCode?: number;
}

const REPORTED = {
  external_api: true,
  webhook_event: true,
  handler: "export default async () => ({ success: true });",
};

/** Says that it was called, as an event. */
const RELAY = {
  inbound_hook: true,
  parameters: { type: "object", properties: { type: { type: "string" } } },
  handler: `export default async ({ type }, ctx) => {
    await ctx.emitWebhook("relayed", { type });
    return { success: true, type };
  };`,
};

/** What is in front of an installation; passes every byte on. */
interface TlsProxy {
  server: Server;
  /** Set once the installation listens. */
  to: { port: number };
}

const hostOf = ({ server }: TlsProxy) => `127.0.0.1:${(server.address() as AddressInfo).port}`;

async function tlsProxy(certificate: { key: string; cert: string }): Promise<TlsProxy> {
  const to = { port: 0 };
  const server = createServer(certificate, (client) => {
    const inner = connect(to.port, "127.0.0.1");
    client.pipe(inner).pipe(client);
    for (const socket of [client, inner]) socket.on("error", () => [client, inner].map((end) => end.destroy()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, to };
}

/** An installation that other installations can reach, with a hook for the tool `relay`. */
interface Reachable {
  toolgate: RunningToolgate;
  url: string;
  hook: TestHook;
}

describe("two installations whose endpoints and hooks lead to each other", () => {
  const resources = new AsyncDisposableStack();
  let first: Reachable;
  let second: Reachable;
  beforeAll(async () => {
    const certificate = await makeLoopbackCertificate(new Date());
    const caFile = join(await temporaryFolder(), "ca.pem");
    await writeFile(caFile, certificate.ca);
    const proxies = [await tlsProxy(certificate), await tlsProxy(certificate)] as const;
    for (const { server } of proxies) resources.defer(() => void server.close());
    const env = { ALLOWED_TARGETS: proxies.map(hostOf).join(","), TARGET_CA_FILE: caFile };
    first = await startBehind(proxies[0], env);
    second = await startBehind(proxies[1], env);
    await connectTo(second, first, ["tool.completed"]);
    await connectTo(first, second, ["custom.relayed"]);
  });
  afterAll(() => resources.disposeAsync());

  async function startBehind(proxy: TlsProxy, env: Record<string, string>): Promise<Reachable> {
    const toolgate = resources.use(await runToolgate("single", { env }));
    proxy.to.port = Number(new URL(toolgate.baseUrl).port);
    await toolgate.saveTool("relay", RELAY);
    await toolgate.saveTool("reported", REPORTED);
    const hook = await createHook(toolgate, { format: "HOOK_FORMAT_STANDARD_WEBHOOKS", target: { tool: "relay" } });
    return { toolgate, url: `https://${hostOf(proxy)}`, hook };
  }

  /** An endpoint of `sender` at the hook of `receiver`, which then gets the endpoint's secret. */
  async function connectTo(sender: Reachable, receiver: Reachable, events: string[]): Promise<void> {
    const endpoint = { url: `${receiver.url}${receiver.hook.path}`, events };
    const { secret } = await sender.toolgate.manage<{ secret: string }>(
      "outbound_webhook.v1.EndpointService/CreateEndpoint",
      endpoint,
    );
    const rotation = { hookId: receiver.hook.id, providerSecret: secret };
    await receiver.toolgate.manage("inbound_hook.v1.HookService/RotateHookSecret", rotation);
  }

  const log = ({ toolgate, hook }: Reachable) => hookLog(toolgate, hook.id);
  const deliveries = async ({ toolgate }: Reachable) => {
    const rpc = "outbound_webhook.v1.DeliveryService/ListDeliveries";
    return (await toolgate.manage<{ deliveries?: Delivery[] }>(rpc, {})).deliveries ?? [];
  };
  /** The first delivery of an installation, once it has been tried. */
  const tried = (sender: Reachable) =>
    eventually(async () => (await deliveries(sender)).find(({ responseCode }) => responseCode) ?? false);

  test("[LOOP-2] [LOOP-3] [LOOP-4] through proxies that pass the hop on, an event triggers the other's hook, and the event that this causes gets a 508", async () => {
    const key = await second.toolgate.createKey({ name: "k", tools: ["reported"] });
    await second.toolgate.call("reported", key.secret);
    const received = await eventually(async () => (await log(first))[0] ?? false);
    expect(await resultOf(first.toolgate, received.id)).toEqual({ success: true, type: "tool.completed" });
    const sent = await tried(second);
    expect(sent).toMatchObject({ eventType: "tool.completed", status: "DELIVERY_STATUS_DELIVERED", responseCode: 202 });
    expect(received.externalId).toBe(sent.id);
    const refused = { eventType: "custom.relayed", status: "DELIVERY_STATUS_RETRYING", responseCode: 508 };
    expect(await tried(first)).toMatchObject(refused);
    expect([await log(first), await log(second), await deliveries(first)].map(({ length }) => length)).toEqual([
      1, 0, 1,
    ]);
  });
});
