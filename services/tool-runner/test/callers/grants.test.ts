import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { ToolService } from "@toolgate/gen/toolgate/tool_runner/v1/tool_pb";
import type { Principal } from "@toolgate/service-host/principal";
import { SERVICE_NAMES } from "@toolgate/service-registry/services";
import { grantText, newSigningKey, principalText, signedCaller } from "@toolgate/testbed/principals";
import { testTransport } from "@toolgate/testbed/transports";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Caller, type CallerRig, CHAT, HOOK, PUBLIC, SERVICE_OF, startCallerRig, TASK } from "./caller-rig.ts";

const KEY: Caller = { case: "key", value: { keyId: "1", keyName: "Partner", ip: "", toolListed: true } };
const ANOTHER_WORKSPACE = "00000000-0000-4000-8000-000000000000";
const UNSIGNED = Buffer.from('{"alg":"none","typ":"toolgate-grant+jwt","kid":"test"}').toString("base64url");
const USER: Principal = { userId: "u", email: "u@acme.example", workspaceId: "w", workspace: "acme", role: "admin" };
const PAST = Math.floor(Date.now() / 1_000) - 3_600;

describe("what key-auth signs about a run", () => {
  let rig: CallerRig;
  let right: { workspaceId: string; workspace: string; keyId: string; keyName: string; tool: string };

  beforeAll(async () => {
    rig = await startCallerRig();
    const handler = "export default () => ({ success: true });";
    const released: JsonObject = { external_api: true, handler };
    await rig.runner.saveTool("open", released);
    await rig.runner.saveTool("other", released);
    const { workspaceId } = rig.runner;
    right = { workspaceId, workspace: "acme", keyId: "1", keyName: "Partner", tool: "open" };
  });
  afterAll(() => rig.runner[Symbol.asyncDispose]());

  async function outcomeOf(
    caller: Caller,
    run: Partial<Record<"workspaceId" | "workspace" | "tool", string>> = {},
  ): Promise<string> {
    const { workspaceId, workspace, tool } = right;
    return rig
      .runsOf("gateway")
      .run({ workspaceId, workspace, tool, body: Buffer.from("{}"), ...run, caller })
      .then(
        ({ outcome }) => outcome.case ?? "?",
        (error) => Code[ConnectError.from(error).code] ?? "?",
      );
  }
  const byKey = (grant: string, toolListed = true): Caller => {
    const { keyId, keyName } = right;
    return { case: "key", value: { keyId, keyName, ip: "", toolListed, grant } };
  };

  const wrongGrants = (): Record<string, [text: string, outcome: string]> => ({
    none: ["", "Unauthenticated"],
    "of another workspace": [grantText({ ...right, workspaceId: ANOTHER_WORKSPACE }), "PermissionDenied"],
    "of another code of the workspace": [grantText({ ...right, workspace: "globex" }), "PermissionDenied"],
    "of another key": [grantText({ ...right, keyId: "2" }), "PermissionDenied"],
    "of another name of the key": [grantText({ ...right, keyName: "Admin" }), "PermissionDenied"],
    "for another tool": [grantText({ ...right, tool: "other" }), "PermissionDenied"],
    "for descriptions": [grantText({ ...right, tool: "" }), "PermissionDenied"],
    expired: [grantText(right, { exp: PAST }), "Unauthenticated"],
    "for another purpose": [grantText(right, { aud: "toolgate-services" }), "Unauthenticated"],
    "without a key": [grantText(right, { sub: undefined }), "Unauthenticated"],
    unsigned: [`${UNSIGNED}.${grantText(right).split(".")[1]}.`, "Unauthenticated"],
    "signed with an unknown key": [grantText(right, {}, newSigningKey("unknown")), "Unauthenticated"],
    "signed by somebody else": [grantText(right, {}, newSigningKey("test")), "Unauthenticated"],
    "a principal": [principalText(USER), "Unauthenticated"],
  });

  it("runs a tool for a key with key-auth's grant for this workspace, key and tool, and with no other", async () => {
    expect(await outcomeOf(byKey(grantText(right)))).toBe("resultJson");
    for (const [name, [text, outcome]] of Object.entries(wrongGrants()))
      expect([name, await outcomeOf(byKey(text))]).toEqual([name, outcome]);
    // The key does not list the tool: nothing is granted, and nothing runs.
    expect(await outcomeOf(byKey("", false))).toBe("unavailable");
    const { executions } = await rig.runner.executions.listExecutions({});
    expect(executions.length).toBeLessThanOrEqual(1);
  });

  it("describes tools to the gateway for a key of their workspace, and none as for assistants", async () => {
    const [replica] = rig.runner.replicas as [CallerRig["runner"]["replicas"][number]];
    const client = createClient(ToolService, testTransport(replica.routes, undefined, "gateway"));
    const described = (grant: string, forAssistant = false) =>
      client.describeTools({ workspaceId: right.workspaceId, names: ["open"], grant, forAssistant }).then(
        ({ tools }) => tools.map(({ name }) => name).join(),
        (error) => Code[ConnectError.from(error).code] ?? "?",
      );
    const own = grantText({ ...right, tool: "" });
    expect(await described(own)).toBe("open");
    expect(await described(own, true)).toBe("PermissionDenied");
    expect(await described("")).toBe("Unauthenticated");
    expect(await described(grantText({ ...right, workspaceId: ANOTHER_WORKSPACE, tool: "" }))).toBe("PermissionDenied");
  });

  it("each kind of run is started by its own service, and refused to every other", async () => {
    const { workspaceId } = rig.runner;
    const run = { workspaceId, workspace: "acme", tool: "none" };
    const workspaceEpoch = await rig.runner.currentEpoch();
    for (const caller of [KEY, CHAT, TASK, PUBLIC, HOOK]) {
      for (const service of SERVICE_NAMES) {
        const outcome = await rig
          .runsOf(service)
          .run({ ...run, workspaceEpoch, caller: signedCaller(caller, run), body: Buffer.from("{}") })
          .then(
            () => "started",
            (error) => Code[ConnectError.from(error).code],
          );
        const isIts = service === SERVICE_OF[caller.case ?? "key"];
        expect([caller.case, service, outcome === "PermissionDenied"]).toEqual([caller.case, service, !isIts]);
      }
    }
  });
});
