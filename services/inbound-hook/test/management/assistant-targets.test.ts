import { Code } from "@connectrpc/connect";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { expect, test } from "vitest";
import { startHookRig } from "../hook-rig.ts";
import { type Assistant, startChat } from "../running/chat-server.ts";

const ASSISTANT = { target: { target: { case: "assistant", value: "clerk" } } } as const;

test("[IN-6] [IN-47] [IN-55] an assistant is a target only if its definition releases it for hooks", async () => {
  const assistants: Assistant[] = [];
  await using chat = await startChat(assistants);
  await using rig = await startHookRig({ instances: [["receiver"]], chat: chat.transport });
  const workspace = await rig.newWorkspace();
  const refused = refusal(Code.FailedPrecondition, /the assistant is not released for hooks/);
  await expect(workspace.createHook(ASSISTANT)).rejects.toEqual(refused);
  assistants.push({ workspaceId: "another-workspace", name: "clerk", released: true });
  await expect(workspace.createHook(ASSISTANT)).rejects.toEqual(refused);
  const own = { workspaceId: workspace.id, name: "clerk", released: false };
  assistants.push(own);
  await expect(workspace.createHook(ASSISTANT)).rejects.toEqual(refused);

  own.released = true;
  const { hook, id } = await workspace.createHook(ASSISTANT);
  expect(hook).toMatchObject({ ...ASSISTANT, arguments: { source: { case: "fields" } } });
  // An assistant declares no arguments, so a mapping may name any.
  const mapping = { source: { case: "mapping", value: { pointers: { anything: "/a" } } } } as const;
  const edited = await workspace.hooks.updateHook({ hookId: id, arguments: mapping });
  expect(edited.hook?.arguments).toMatchObject(mapping);

  const tried = async (body: object) => {
    const source = { case: "body", value: Buffer.from(JSON.stringify(body)) } as const;
    const { argsJson, violations } = await workspace.deliveries.tryMapping({ hookId: id, source });
    return violations[0]?.rule ?? JSON.parse(argsJson);
  };
  expect(await tried({ a: { text: "x", token: "t" } })).toEqual({ anything: { text: "x", token: "[entfernt]" } });
  expect(await tried({ a: ["{{x"] })).toBe("marker");
  own.released = false;
  expect(await tried({ a: 1 })).toBe("released");
});
