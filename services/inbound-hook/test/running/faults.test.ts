import { Code, ConnectError } from "@connectrpc/connect";
import { neverSentError } from "@toolgate/call-stream/call";
import { WorkspaceService } from "@toolgate/gen/toolgate/key_auth/v1/workspace_pb";
import { RunService } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import type { Peers } from "@toolgate/service-host/rpc/peers";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestWorkspace } from "../hook-rig.ts";
import { type RunRig, startRunRig } from "./run-rig.ts";

let rig: RunRig;
let workspace: TestWorkspace;
/** What happens to the next calls of tool-runner: lost before or after they were sent, or nothing. */
const faults: ("never sent" | "not started" | "lost during the run" | "timeout")[] = [];
let lockChecksToFail = 0;

beforeAll(async () => {
  rig = await startRunRig({ instances: [["receiver"]] });
  workspace = await rig.newWorkspace();
  await rig.start(["runner"], { host: { peers: faulty(rig.peers) } });
});
afterAll(() => rig?.[Symbol.asyncDispose]());

function faulty(real: Peers): Peers {
  return {
    transport: real.transport,
    call(method) {
      const call = real.call(method);
      return async (request, options) => {
        if ((method as unknown) === WorkspaceService.method.listLockedWorkspaces && lockChecksToFail > 0) {
          lockChecksToFail -= 1;
          throw new ConnectError("down", Code.Unavailable);
        }
        const fault = (method as unknown) === RunService.method.run ? faults.shift() : undefined;
        if (fault === "never sent") throw neverSentError("no server is reachable", Code.Unavailable);
        if (fault === "not started") throw new ConnectError("the run did not start", Code.Aborted);
        const response = await call(request, options);
        if (fault === "timeout") throw new ConnectError("the call's time is up", Code.DeadlineExceeded);
        if (fault) throw new ConnectError("the stream was lost", Code.Unavailable);
        return response;
      };
    },
  };
}

/** The length of the execution log, which follows with a delay: each test waits for all of its runs. */
const executions = async (): Promise<number> =>
  (await rig.pool.query("select count(*)::integer as runs from tool_runner.executions")).rows[0].runs;

test("[IN-33] a run that certainly did not start is started again, as the same run", async () => {
  const hook = await workspace.createHook();
  faults.push("never sent", "not started");
  const outcome = await rig.ended(await rig.accept(hook, { text: "a" }));
  expect(outcome).toMatchObject({ status: "succeeded", error: "", runs: [{ number: 1, status: "succeeded" }] });
  lockChecksToFail = 2;
  expect(await rig.ended(await rig.accept(hook, { text: "b" }))).toMatchObject({ status: "succeeded", runs: [{}] });
  await eventually(async () => (await executions()) >= 2);
  expect(await executions()).toBe(2);
});

test("[IN-12] [IN-34] a run that may have had effects is never repeated, and the log says so", async () => {
  const hook = await workspace.createHook();
  const before = await executions();
  faults.push("lost during the run");
  expect(await rig.ended(await rig.accept(hook, { text: "c" }))).toMatchObject({
    status: "failed",
    error: "the platform failed during the run: what the tool did is not known",
    runs: [{ number: 1 }],
  });
  faults.push("timeout");
  expect(await rig.ended(await rig.accept(hook, { text: "d" }))).toMatchObject({
    status: "failed",
    error: "the tool did not end in time",
  });
  await eventually(async () => (await executions()) >= before + 2);
  expect(await executions()).toBe(before + 2);
});
