import { Code, ConnectError } from "@connectrpc/connect";
import { SERVICE_NAMES } from "@toolgate/service-registry/services";
import { signedCaller } from "@toolgate/testbed/principals";
import { expect, test } from "vitest";
import { CHAT, HOOK, PUBLIC, SERVICE_OF, startCallerRig, TASK, TEST } from "./caller-rig.ts";

const KEY = { case: "key", value: { keyId: "1", keyName: "Partner", ip: "", toolListed: true } } as const;

test("each kind of run is started by its own service, and refused to every other", async () => {
  const { runner, runsOf } = await startCallerRig();
  await using _runner = runner;
  for (const caller of [KEY, CHAT, TASK, PUBLIC, HOOK, TEST]) {
    for (const service of SERVICE_NAMES) {
      const { workspaceId } = runner;
      const run = { workspaceId, workspace: "acme", tool: "none" };
      const request = {
        ...run,
        workspaceEpoch: await runner.currentEpoch(),
        caller: signedCaller(caller, run),
      };
      const outcome = await runsOf(service)
        .run({ ...request, body: Buffer.from("{}") })
        .then(
          () => "started",
          (error) => Code[ConnectError.from(error).code],
        );
      const isIts = service === SERVICE_OF[caller.case ?? "key"];
      expect([caller.case, service, outcome === "PermissionDenied"]).toEqual([caller.case, service, !isIts]);
    }
  }
});
