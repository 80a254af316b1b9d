import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { DeliveryStatus } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { createSystemResolver } from "@toolgate/safe-fetch/system-resolver";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { type NameServer, startNameServer } from "@toolgate/testbed/servers/name-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type OutboundRig, startOutboundRig } from "./outbound-rig.ts";

const PUBLIC = "8.8.8.8";
/** Used as a public address: the only one on this machine that the rig may call. */
const CALLABLE = "127.0.0.2";
const MINUTE_MS = 60_000;
const SLACK_MS = 20_000;

/** One for each reason: the rules themselves have their tests in safe-fetch. */
const REFUSED_URLS: readonly [title: string, url: string, reason: RegExp][] = [
  ["[SSRF-1] plain http", "http://public.example.net/", /^url: only https$/],
  ["[SSRF-1] no scheme", "public.example.net", /^url: not a URL$/],
  ["[SSRF-2] credentials", "https://user:secret@public.example.net/", /^url: no credentials/],
  ["[SSRF-3] the application host", "https://gate.example/", /^url: must not point to this service$/],
  ["[SSRF-4] a name with addresses of both kinds", "https://mixed.example.net/", /^url: target address not allowed$/],
  ["[SSRF-4] a name without addresses", "https://nowhere.example.net/", /^url: the host does not resolve$/],
  ["[SSRF-7] loopback", "https://127.0.0.1/", /^url: target address not allowed$/],
  ["[SSRF] decimal", "https://2130706433/", /^url: not a valid host$/],
  ["[SSRF] a control character", "https://public.example.net/\u0007", /^url: no whitespace, control characters/],
  ["[SSRF] port 0", "https://public.example.net:0/", /^url: not a valid port$/],
  ["[SSRF] a URL of over 2,048 characters", `https://public.example.net/${"a".repeat(2048)}`, /^url: at most 2048/],
];

describe("targets", () => {
  let rig: OutboundRig;
  let dns: NameServer;
  const zone = new Map<string, readonly string[]>([
    ["public.example.net", [PUBLIC]],
    ["private.example.net", ["10.0.0.1"]],
    ["mixed.example.net", [PUBLIC, "10.0.0.1"]],
  ]);
  beforeAll(async () => {
    dns = await startNameServer((host) => zone.get(host) ?? []);
    const hostsFile = join(tmpdir(), "no-such-folder", "hosts");
    rig = await startOutboundRig({
      config: { allowedTargets: [CALLABLE] },
      resolver: createSystemResolver({ servers: dns.servers, hostsFile }),
    });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await dns[Symbol.asyncDispose]();
  });

  /** A new endpoint with a public name, and that name. */
  async function saved(workspaceId: string) {
    const name = `${workspaceId}.example.net`;
    zone.set(name, [PUBLIC]);
    const url = `https://${name}:${rig.receiver.port}/hook`;
    const { endpoint } = await rig.endpoints({ workspaceId }).createEndpoint({ url, events: ["custom.*"] });
    return { name, endpoint, endpointId: endpoint?.id ?? 0n };
  }

  it.each(REFUSED_URLS)(
    "%s is refused when an endpoint is made and when it is changed, and changes nothing",
    async (_title, url, reason) => {
      const client = rig.endpoints({ workspaceId: "w-refused" });
      const existing = (await client.listEndpoints({})).endpoints[0] ?? (await saved("w-refused")).endpoint;
      const endpointId = existing?.id ?? 0n;
      const refused = refusal(Code.InvalidArgument, reason);
      await expect(client.createEndpoint({ url, events: ["custom.*"] })).rejects.toEqual(refused);
      await expect(client.updateEndpoint({ endpointId, url, description: "changed" })).rejects.toEqual(refused);
      expect((await client.listEndpoints({})).endpoints).toEqual([existing]);
    },
  );

  it.each([
    ["[SSRF-7] 127.0.0.1", "w-loopback", "127.0.0.1"],
    ["[SSRF-19] ::ffff:127.0.0.1", "w-mapped-loopback", "::ffff:127.0.0.1"],
  ])(
    "[SSRF-5] %s: a name that moves there is not called on any attempt, and the retries continue",
    async (_title, workspaceId, address) => {
      const { name } = await saved(workspaceId);
      zone.set(name, [address]);
      const before = rig.receiver.connections;
      await rig.report({ workspaceId });
      for (const [attempts, waitMs] of [
        [1, MINUTE_MS],
        [2, 5 * MINUTE_MS],
      ] as const) {
        const delivery = await rig.delivery(workspaceId, { attempts });
        expect(delivery).toMatchObject({
          status: DeliveryStatus.RETRYING,
          error: "target address not allowed",
          responseCode: 0,
        });
        const nextMs = Number(delivery.nextAttemptAt?.seconds) * 1000;
        expect(Math.abs(nextMs - waitMs - rig.clock.now().getTime())).toBeLessThan(SLACK_MS);
        rig.clock.advance(waitMs);
        rig.wake();
      }
      const { id } = await rig.delivery(workspaceId, { attempts: 3 });
      const { attemptLog } = await rig.deliveries({ workspaceId }).getDelivery({ deliveryId: id });
      expect(attemptLog.map(({ error, address }) => [error, address])).toEqual(
        Array(3).fill(["target address not allowed", ""]),
      );
      expect(rig.receiver.connections).toBe(before);
    },
  );
});
