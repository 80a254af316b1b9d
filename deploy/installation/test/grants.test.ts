import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { hashSecret } from "@toolgate/api-key/secret";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { RunRequestSchema, RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo } from "@toolgate/local/demo/management";
import { createLogger } from "@toolgate/service-host/logger";
import { remotePeers } from "@toolgate/service-host/peers";
import { newSigningKey } from "@toolgate/testbed/principals";
import { serviceToken } from "@toolgate/testbed/service-identity";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "./running-toolgate.ts";

const RELEASED = { description: "d", external_api: true, handler: "export default () => ({ success: true });" };
let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("split");
  for (const tool of ["open", "unlisted"]) await toolgate.saveTool(tool, RELEASED);
});
afterAll(() => toolgate[Symbol.asyncDispose]());

test("whoever has taken over the gateway runs only what keys that called may run, over streams and as unary calls", async () => {
  const account = { workspace: `s-${randomUUID().slice(0, 8)}`, email: "admin@second.test", password: "a password" };
  await provision(toolgate.pool, { ...account, role: "admin" });
  const manageSecond = await loginTo(toolgate.baseUrl, account);
  await manageSecond?.("tool_runner.v1.ToolService/SaveTool", {
    name: "open",
    definition: RELEASED,
    confirmExposure: true,
  });
  const made = await manageSecond?.<{ secret: string }>("key_auth.v1.KeyService/CreateKey", {
    name: "k",
    tools: ["open"],
  });
  const { secret } = await toolgate.createKey({ name: "k", tools: ["open"], limit: 1_000 });

  // The gateway's key and addresses.
  const { gateway: serviceKey = "" } = toolgate.serviceKeys;
  const log = createLogger({ service: "test", level: "silent" });
  const tokens = async (called: string) => serviceToken("gateway", called, { serviceKey });
  await using gateway = remotePeers(toolgate.rpcUrls, { log, tokens });
  const verify = gateway.call(VerifyService.method.verify);
  const verdictOf = async (used: string) => {
    const { key } = await verify({ $typeName: "toolgate.key_auth.v1.VerifyRequest", ...question(used) });
    if (!key) throw new Error("no verdict");
    return key;
  };
  const own = await verdictOf(secret);
  const foreign = await verdictOf(made?.secret ?? "");
  expect(own.grant.length).toBeLessThan(600);

  const right = {
    workspaceId: own.workspaceId,
    workspace: own.workspace,
    workspaceEpoch: own.workspaceEpoch,
    tool: "open",
    body: Buffer.from("{}"),
  };
  const byKey = { keyId: own.keyId, keyName: own.keyName, ip: "", toolListed: true, grant: own.grant };
  const [head, body, signature] = own.grant.split(".");
  const claims = JSON.parse(Buffer.from(body ?? "", "base64url").toString());
  const { kid } = JSON.parse(Buffer.from(head ?? "", "base64url").toString());
  const longer = Buffer.from(JSON.stringify({ ...claims, exp: claims.exp + 3_600 })).toString("base64url");
  const typ = "toolgate-grant+jwt";
  const asOther = { workspaceId: foreign.workspaceId, workspace: foreign.workspace };
  const attempts: Record<string, [key: object, run: object, outcome: string]> = {
    "its own": [{}, {}, "resultJson"],
    "no grant": [{ grant: "" }, {}, "Unauthenticated"],
    "of another workspace's key": [{ grant: foreign.grant }, {}, "PermissionDenied"],
    "in another workspace": [{}, asOther, "PermissionDenied"],
    "as another workspace's key": [{ grant: foreign.grant, keyId: foreign.keyId }, {}, "PermissionDenied"],
    "a tool that the key does not list": [{}, { tool: "unlisted" }, "PermissionDenied"],
    "changed to live longer": [{ grant: `${head}.${longer}.${signature}` }, {}, "Unauthenticated"],
    "signed by itself": [{ grant: newSigningKey(kid).sign(claims, { typ }) }, {}, "Unauthenticated"],
    "a token of the gateway": [{ grant: await tokens("tool-runner") }, {}, "Unauthenticated"],
    "of a key that is not listed": [{ toolListed: false, grant: "" }, {}, "unavailable"],
  };
  const stream = gateway.call(RunService.method.run);
  const unary = gateway.transport("tool-runner");
  for (const [name, [key, run, outcome]] of Object.entries(attempts)) {
    const request = create(RunRequestSchema, {
      ...right,
      ...run,
      caller: { case: "key", value: { ...byKey, ...key } },
    });
    const ends = [
      stream(request),
      unary.unary(RunService.method.run, undefined, 20_000, undefined, request).then(({ message }) => message),
    ].map((call) =>
      call.then(
        (response) => response.outcome.case,
        (error) => Code[ConnectError.from(error).code],
      ),
    );
    expect([name, ...(await Promise.all(ends))]).toEqual([name, outcome, outcome]);
  }
  // Tests of tools need an administrator's principal, and other kinds of runs are not the gateway's.
  for (const kind of ["test", "chat", "hook", "scheduledTask"] as const) {
    const request = create(RunRequestSchema, { ...right, caller: { case: kind, value: {} } });
    const code = kind === "test" ? Code.Unauthenticated : Code.PermissionDenied;
    await expect(stream(request)).rejects.toMatchObject({ code });
  }
});

function question(secret: string) {
  return { secretHash: hashSecret(secret), tool: "open", count: false, clientIp: "" };
}
