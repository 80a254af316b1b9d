import { Code, ConnectError } from "@connectrpc/connect";
import type { RunForHookResponse } from "@toolgate/gen/toolgate/chat/v1/assistant_run_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { refusal } from "@toolgate/testbed/rpc-errors";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { CreateHookInit, TestWorkspace } from "../hook-rig.ts";
import { newBody } from "../receive-rig.ts";
import { type ChatServer, startChat } from "./chat-server.ts";
import { type RunRig, startRunRig } from "./run-rig.ts";

let chat: ChatServer;
let rig: RunRig;
let workspace: TestWorkspace;
beforeAll(async () => {
  chat = await startChat();
  rig = await startRunRig({ chat: chat.transport });
  workspace = await rig.newWorkspace();
  chat.assistants.push({ workspaceId: workspace.id, name: "clerk", released: true });
});
beforeEach(() => {
  chat.run = async () => ({ case: "reply", value: "done" });
});
afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
  await chat?.[Symbol.asyncDispose]();
});

const CLERK = { target: { target: { case: "assistant", value: "clerk" } } } as const satisfies CreateHookInit;
const mapping = (pointers: Record<string, string>) =>
  ({ arguments: { source: { case: "mapping", value: { pointers } } } }) as const satisfies CreateHookInit;

const requestOf = (deliveryId: string) => {
  const found = chat.requests.find((request) => request.deliveryId === deliveryId);
  if (!found) throw new Error("the assistant was not started");
  return found;
};
const dataIn = (message: string) =>
  JSON.parse(/\n<untrusted_webhook_data>\n([^<]*)\n<\/untrusted_webhook_data>\n/.exec(message)?.[1] ?? "");

it("[IN-60] [IN-62] [IN-63] an assistant runs in a chat of its own, without a user, and its reply is in the log", async () => {
  const hook = await workspace.createHook({ ...CLERK, name: "Orders" });
  const id = await rig.accept(hook, { order: 1 }, { headers: { "x-service-delivery": "order-1" } });
  const { last, created_at, ...outcome } = await rig.ended(id);
  expect(outcome).toMatchObject({ status: "succeeded", error: "", duration_ms: 7 });
  expect(last).toMatchObject({ result: "done", args: '{"order":1}', duration_ms: 7, execution_id: "" });
  const request = requestOf(id);
  expect(request).toMatchObject({
    workspaceId: workspace.id,
    workspace: workspace.code,
    assistant: "clerk",
    chatId: last.chat_id,
    hookId: hook.id,
    hookName: "Orders",
    externalId: "order-1",
    receivedAt: created_at.toISOString(),
  });
  expect(request.requestId).not.toBe("");
  const seconds = Math.floor(created_at.getTime() / 1_000);
  expect(last.chat_id).toMatch(new RegExp(`^hook_${hook.id}_${seconds}_[0-9a-f]{12}$`));
});

it("[IN-60] every hook delivery and every reprocessing gets another chat", async () => {
  const hook = await workspace.createHook(CLERK);
  const ids = [await rig.accept(hook, newBody()), await rig.accept(hook, newBody())] as const;
  for (const id of ids) await rig.ended(id);
  await workspace.deliveries.reprocessHookDelivery({ deliveryId: ids[0] });
  const again = await eventually(async () => {
    const { runs } = await rig.ended(ids[0]);
    return runs.length === 2 && runs;
  });
  const chats = [...again, ...(await rig.ended(ids[1])).runs].map((run) => run.chat_id);
  expect(new Set(chats).size).toBe(3);
});

it("[IN-61] the message contains the data of the body, or of the mapping when there is one", async () => {
  const body = { order: { id: 1, note: null }, _x: 1 };
  const whole = await workspace.createHook(CLERK);
  const first = await rig.accept(whole, body);
  await rig.ended(first);
  expect(dataIn(requestOf(first).message)).toEqual(body);
  const mapped = await workspace.createHook({
    ...CLERK,
    ...mapping({ id: "/order/id", none: "/none", note: "/order/note" }),
  });
  const second = await rig.accept(mapped, body);
  await rig.ended(second);
  expect(dataIn(requestOf(second).message)).toEqual({ id: 1, note: null });
});

it("[IN-44] {{ in the data is refused, but not in what a mapping leaves out", async () => {
  const before = chat.requests.length;
  const hook = await workspace.createHook(CLERK);
  for (const body of [{ text: "{{x}}" }, { deep: [{ "{{": 1 }] }]) {
    const outcome = await rig.ended(await rig.accept(hook, body));
    expect(outcome).toMatchObject({ status: "failed", error: "the data: {{ is not allowed" });
  }
  expect(chat.requests).toHaveLength(before);
  const mapped = await workspace.createHook({ ...CLERK, ...mapping({ id: "/id" }) });
  expect(await rig.ended(await rig.accept(mapped, { id: 1, text: "{{" }))).toMatchObject({ status: "succeeded" });
});

it("[IN-12] [IN-34] [IN-63] why an assistant failed is in the log, and a reply is cut at 64 KB", async () => {
  const hook = await workspace.createHook(CLERK);
  const failsWith = async (run: () => Promise<RunForHookResponse["outcome"]>) => {
    chat.run = run;
    const { status, error, last } = await rig.ended(await rig.accept(hook, newBody()));
    expect([status, last.result]).toEqual(["failed", ""]);
    return error;
  };
  const throwing = (error: Error) => () => Promise.reject(error);
  expect(await failsWith(async () => ({ case: "error", value: "no model" }))).toBe("no model");
  expect(await failsWith(throwing(new ConnectError("9 MB", Code.ResourceExhausted)))).toBe(
    "the message to the assistant or its reply is too large",
  );
  expect(await failsWith(throwing(new ConnectError("chat_id", Code.InvalidArgument)))).toBe(
    "the assistant was not started: it cannot take this message",
  );
  expect(await failsWith(throwing(new Error("a crash with secrets")))).toBe(
    "the platform failed during the run: what the assistant did is not known",
  );
  chat.run = async () => ({ case: "reply", value: `ä${"x".repeat(100_000)}\u0000` });
  const { last } = await rig.ended(await rig.accept(hook, newBody()));
  expect(Buffer.byteLength(last.result)).toBe(65_536);
});

it("[IN-47] [IN-58] [IN-59] the release of an assistant is checked whenever it runs, and only in the own workspace", async () => {
  const own = { workspaceId: workspace.id, name: "second", released: true };
  chat.assistants.push(own, { workspaceId: "another", name: "second", released: true });
  const hook = await workspace.createHook({ target: { target: { case: "assistant", value: "second" } } });
  expect(await rig.ended(await rig.accept(hook, newBody()))).toMatchObject({ status: "succeeded" });
  own.released = false;
  expect(await rig.ended(await rig.accept(hook, newBody()))).toMatchObject({ status: "failed", error: "not released" });
  own.workspaceId = "gone";
  own.released = true;
  expect(await rig.ended(await rig.accept(hook, newBody()))).toMatchObject({ status: "failed", error: "not released" });
});

it("[IN-6] [IN-47] [IN-55] an assistant is a target only if its definition releases it for hooks", async () => {
  const target = { target: { target: { case: "assistant", value: "filer" } } } as const;
  const refused = refusal(Code.FailedPrecondition, /the assistant is not released for hooks/);
  await expect(workspace.createHook(target)).rejects.toEqual(refused);
  const own = { workspaceId: workspace.id, name: "filer", released: false };
  chat.assistants.push({ workspaceId: "another", name: "filer", released: true }, own);
  await expect(workspace.createHook(target)).rejects.toEqual(refused);

  own.released = true;
  const { hook, id } = await workspace.createHook(target);
  expect(hook).toMatchObject({ ...target, arguments: { source: { case: "fields" } } });
  // An assistant declares no arguments, so a mapping may name any.
  const mapped = mapping({ anything: "/a" });
  const edited = await workspace.hooks.updateHook({ hookId: id, ...mapped });
  expect(edited.hook).toMatchObject(mapped);

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

it("[IN-60] a run waits while the chat service is down, and has the same chat id when it starts", async () => {
  const hook = await workspace.createHook(CLERK);
  const chats: string[] = [];
  chat.run = async ({ chatId }) => {
    chats.push(chatId);
    if (chats.length < 3) throw new ConnectError("shutting down", Code.Unavailable);
    return { case: "reply", value: "at last" };
  };
  const id = await rig.accept(hook, newBody());
  expect(await rig.ended(id)).toMatchObject({ status: "succeeded", last: { number: 1, result: "at last" } });
  expect(chats).toHaveLength(3);
  expect(new Set(chats).size).toBe(1);
});
