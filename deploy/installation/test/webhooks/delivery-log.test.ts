import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo } from "@toolgate/local/demo/management";
import { eventually } from "@toolgate/testbed/eventually";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const EMITTER = {
  external_api: true,
  parameters: { type: "object", properties: { note: { type: "string" } } },
  handler: `export default async (args, ctx) => {
    await ctx.emitWebhook("order.added", { note: args.note });
    return { success: true };
  };`,
};
const NOTE = 'it\'s "50 %" of $HOME, `id` & Grüße\n';
const SHELL_DEADLINE_MS = 150_000;

interface Attempt {
  headers: { name: string; value: string }[];
  address: string;
  signedAt: string;
}

let toolgate: RunningToolgate;
let endpoint: { id: string; secret: string };
let deliveryId: string;
beforeAll(async () => {
  toolgate = await runToolgate("single");
  await toolgate.saveTool("emitter", EMITTER);
  endpoint = await toolgate.createEndpoint(["custom.*"]);
  const key = await toolgate.createKey({ name: "k", tools: ["emitter"] });
  await toolgate.call("emitter", key.secret, { note: NOTE });
  deliveryId = await eventually(async () => (await list({ statuses: ["DELIVERY_STATUS_DELIVERED"] }))[0] ?? false);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const log = <Response>(rpc: string, request: Record<string, unknown>) =>
  toolgate.manage<Response>(`outbound_webhook.v1.DeliveryService/${rpc}`, request);
const list = async (request: Record<string, unknown>) =>
  ((await log<{ deliveries?: { id: string }[] }>("ListDeliveries", request)).deliveries ?? []).map(({ id }) => id);

test("[OUT-11] [WMGMT] the log is searched by type, kind, status, time and endpoint", async () => {
  const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
  const all = {
    eventType: "custom.order.added",
    kind: "DELIVERY_KIND_EVENT",
    endpointId: endpoint.id,
    createdFrom: hourAgo,
  };
  expect(await list(all)).toEqual([deliveryId]);
  expect(await list({ eventType: "custom.*" })).toEqual([deliveryId]);
  expect(await list({ eventType: "tool.completed" })).toEqual([]);
  expect(await list({ createdTo: hourAgo })).toEqual([]);
  expect(await list({ kind: "DELIVERY_KIND_TEST" })).toEqual([]);
  const backlog = await log("GetEndpointBacklog", { endpointId: endpoint.id });
  expect(backlog).toEqual({});
});

test("[OUT-11] [OUT-29] a delivery shows its headers and bytes as they arrived, and the debugger agrees with them", async () => {
  const [request] = toolgate.receiver.requests;
  const shown = await log<{ attemptLog: Attempt[]; body: string }>("GetDelivery", { deliveryId });
  expect(Buffer.from(shown.body, "base64").equals(request?.body ?? Buffer.alloc(0))).toBe(true);
  const headers = shown.attemptLog[0]?.headers ?? [];
  expect(request?.headers).toMatchObject(Object.fromEntries(headers.map(({ name, value }) => [name, value])));
  const question = {
    endpointId: endpoint.id,
    body: shown.body,
    headers: headers.map(({ name, value }) => `${name}: ${value}`).join("\n"),
  };
  expect(await log("DebugSignature", question)).toMatchObject({ timeWithinTolerance: true, signatureMatches: true });
  const trimmed = Buffer.from(`${Buffer.from(shown.body, "base64")}\n`).toString("base64");
  expect(await log("DebugSignature", { ...question, body: trimmed })).toMatchObject({
    mistakes: ["SIGNATURE_MISTAKE_TRAILING_NEWLINE"],
  });
});

test("[OUT-22] [OUT-28] the curl command of a delivery works in a shell, and only managers get it", async () => {
  await using resources = new AsyncDisposableStack();
  const folder = resources.adopt(await mkdtemp(join(tmpdir(), "toolgate-curl-")), (path) =>
    rm(path, { recursive: true }),
  );
  const caFile = join(folder, "ca.pem");
  await writeFile(caFile, toolgate.receiver.ca ?? "");
  const { command } = await log<{ command: string }>("GetDeliveryAsCurl", { deliveryId });
  const before = toolgate.receiver.requests.length;
  const env = { PATH: process.env.PATH, CURL_CA_BUNDLE: caFile };
  await new Promise<void>((resolve, reject) => {
    const shell = execFile("sh", { env, timeout: SHELL_DEADLINE_MS }, (error) => (error ? reject(error) : resolve()));
    shell.stdin?.end(command);
  });
  const [first] = toolgate.receiver.requests;
  const [again] = toolgate.receiver.requests.slice(before);
  expect(again?.body.equals(first?.body ?? Buffer.alloc(0))).toBe(true);
  const verified = new Webhook(endpoint.secret).verify(again?.body ?? "", again?.headers as Record<string, string>);
  expect(verified).toMatchObject({ data: { note: NOTE } });

  const account = { ...toolgate.account, email: "member@example.test", role: "member" as const };
  await provision(toolgate.pool, account);
  const member = await loginTo(toolgate.baseUrl, account);
  for (const rpc of ["ListDeliveries", "GetDelivery", "GetDeliveryAsCurl", "GetEndpointBacklog", "DebugSignature"]) {
    await expect(member?.(`outbound_webhook.v1.DeliveryService/${rpc}`, {}), rpc).rejects.toThrow("403");
  }
});
