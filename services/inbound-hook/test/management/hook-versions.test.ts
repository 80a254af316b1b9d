import { Code } from "@connectrpc/connect";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type HookRig, startHookRig, type TestWorkspace } from "../hook-rig.ts";

let rig: HookRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  rig = await startHookRig({ instances: [["receiver"]] });
  workspace = await rig.newWorkspace();
});
afterAll(() => rig?.[Symbol.asyncDispose]());

test("[WMGMT] each edit raises the version of a hook and keeps who saved it; one that changes nothing does not", async () => {
  const { id: hookId, hook } = await workspace.createHook();
  expect(hook).toMatchObject({ version: 1, savedBy: "admin@example.test", savedAt: hook?.createdAt });
  const manager = rig.as("manager", workspace).hooks;
  const pointers = { text: "/b", times: "/a" };
  const args = { source: { case: "mapping", value: { pointers } } } as const;
  const edits = [{ name: "Two" }, { active: false }, { limit: 4 }];
  for (const [index, edit] of edits.entries()) {
    const edited = await manager.updateHook({ hookId, ...edit });
    expect(edited.hook).toMatchObject({ ...edit, version: index + 2, savedBy: "manager@example.test" });
  }
  await workspace.saveTool("two", {
    inbound_hook: true,
    parameters: { type: "object", properties: { text: { type: "string" }, times: { type: "number" } } },
    handler: "export default () => 1;",
  });
  const { id: mapped } = await workspace.createHook({
    target: { target: { case: "tool", value: "two" } },
    arguments: args,
  });
  const other = { source: { case: "mapping", value: { pointers: { times: "/a", text: "/b" } } } } as const;
  const same = await workspace.hooks.updateHook({ hookId: mapped, arguments: other, active: true });
  expect(same.hook?.version).toBe(1);
});

test("[WMGMT] an edit of an older version names who saved the newer one, and changes nothing", async () => {
  const { id: hookId } = await workspace.createHook();
  const manager = rig.as("manager", workspace).hooks;
  await manager.updateHook({ hookId, name: "Theirs", expectedVersion: 1 });
  const late = workspace.hooks.updateHook({ hookId, name: "Ours", active: false, expectedVersion: 1 });
  await expect(late).rejects.toEqual(
    refusal(Code.Aborted, /^manager@example\.test saved version 2 at [-\d]+ [:\d]+ UTC, after you opened it$/),
  );
  const { hook } = await workspace.hooks.getHook({ hookId });
  expect(hook).toMatchObject({ name: "Theirs", active: true, version: 2 });
  // Without the version the last write wins.
  const over = await workspace.hooks.updateHook({ hookId, name: "Ours" });
  expect(over.hook).toMatchObject({ name: "Ours", version: 3, savedBy: "admin@example.test" });
});
