import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatRig, startChatRig } from "../chat-rig.ts";
import { say } from "../scripted-model.ts";
import { keepAuditEntries, shortEntries } from "./audit-entries.ts";
import { type Clients, clientsOf } from "./clients.ts";

let rig: ChatRig;
beforeAll(async () => {
  rig = await startChatRig();
  await keepAuditEntries(rig.pool);
});
afterAll(() => rig[Symbol.asyncDispose]());

/** A user of a workspace that has saved nothing. */
function newWorkspace(): Clients & { workspaceId: string } {
  const workspaceId = randomUUID();
  return { workspaceId, ...clientsOf(rig, { workspaceId }) };
}

test("[CHAT] a workspace has the built-in assistant until it saves its first one, which becomes the default", async () => {
  const { workspaceId, assistants } = newWorkspace();
  const builtIn = { name: "assistant", version: 0, isDefault: true, savedBy: "" };
  expect((await assistants.listAssistants({})).assistants).toMatchObject([builtIn]);
  expect((await assistants.getAssistant({ name: "assistant" })).assistant).toMatchObject(builtIn);
  expect((await assistants.listAssistantVersions({ name: "assistant" })).versions).toMatchObject([builtIn]);
  rig.model.answer(say("Hello."));
  for (const assistant of ["", "assistant"])
    await rig.untilDone(await rig.send(`built-in-${assistant}`, "Hi", { workspaceId, assistant }));
  expect(rig.model.calls.at(-1)?.request.instructions).toMatch(/assistant of this workspace/);
  await expect(assistants.deleteAssistant({ name: "assistant" })).rejects.toMatchObject({ code: Code.NotFound });

  const saved = await assistants.saveAssistant({ name: "sales", definition: { instructions: "Sell." } });
  expect(saved.assistant).toMatchObject({
    name: "sales",
    version: 1,
    isDefault: true,
    savedBy: "manager@example.test",
  });
  expect((await assistants.listAssistants({})).assistants.map(({ name }) => name)).toEqual(["sales"]);
  await expect(assistants.getAssistant({ name: "assistant" })).rejects.toMatchObject({ code: Code.NotFound });
  const gone = rig.request("gone", "Hi", { workspaceId, assistant: "assistant" });
  expect(await rig.turns.start(gone)).toEqual({ kind: "no-assistant" });
  await rig.untilDone(await rig.send("sales", "Hi", { workspaceId }));
  expect(rig.model.calls.at(-1)?.request.instructions).toMatch(/Sell\./);
});

test("[CHAT] [MGMT] each save is a version; one that expects another changes nothing and names who saved it", async () => {
  const { assistants } = newWorkspace();
  const save = (instructions: string, expectedVersion?: number) =>
    assistants.saveAssistant({ name: "a", definition: { instructions, suggestions: ["More"] }, expectedVersion });
  await save("one", 0);
  await expect(save("over it", 0)).rejects.toMatchObject({
    code: Code.Aborted,
    rawMessage: expect.stringMatching(/^manager@example.test saved version 1 at /),
  });
  await save("two", 1);
  await save("three");
  await expect(save("late", 2)).rejects.toMatchObject({ code: Code.Aborted });
  const { versions } = await assistants.listAssistantVersions({ name: "a" });
  expect(versions.map(({ version, definition }) => [version, definition?.instructions])).toEqual([
    [3, "three"],
    [2, "two"],
    [1, "one"],
  ]);
  expect((await assistants.getAssistant({ name: "a" })).assistant).toMatchObject({
    version: 3,
    definition: { instructions: "three", suggestions: ["More"], inboundHook: false },
  });
  await assistants.saveAssistant({ name: "b" });
  await assistants.setDefaultAssistant({ name: "b" });
  await assistants.deleteAssistant({ name: "a" });
  await expect(save("gone", 3)).rejects.toMatchObject({
    code: Code.Aborted,
    rawMessage: "the assistant was deleted after you opened it",
  });
});

test("[EXPO-1] [EXPO-3] [EXPO-4] [EXPO-5] [EXPO-6] nothing is saved with a newly set flag for hooks until it is confirmed", async () => {
  const { workspaceId, assistants } = newWorkspace();
  const definition = { instructions: "secret text", inboundHook: true };
  const refused = { code: Code.Aborted, rawMessage: expect.stringContaining("inbound_hook") };
  await expect(assistants.saveAssistant({ name: "a", definition })).rejects.toMatchObject(refused);
  expect((await assistants.listAssistants({})).assistants).toMatchObject([{ version: 0 }]);
  expect(await shortEntries(rig.pool, workspaceId)).toEqual([]);
  await assistants.saveAssistant({ name: "a", definition, confirmExposure: true });
  // It stays on.
  await assistants.saveAssistant({ name: "a", definition: { ...definition, greeting: "Hi" } });
  const both = { ...definition, inboundHookWrite: true };
  await expect(assistants.saveAssistant({ name: "a", definition: both })).rejects.toMatchObject({
    rawMessage: "newly exposed by inbound_hook_write: repeat with confirm_exposure=true",
  });
  await assistants.saveAssistant({ name: "a", definition: both, confirmExposure: true });
  // Once it was off, it is new again.
  await assistants.saveAssistant({ name: "a", definition: { instructions: "secret text" } });
  await expect(assistants.saveAssistant({ name: "a", definition })).rejects.toMatchObject(refused);
  expect(await shortEntries(rig.pool, workspaceId)).toEqual([
    "assistant.create a instructions inbound_hook",
    "assistant.expose a inbound_hook",
    "assistant.edit a greeting",
    "assistant.edit a greeting inbound_hook_write",
    "assistant.expose a inbound_hook_write",
    "assistant.edit a inbound_hook inbound_hook_write",
  ]);
});

test("[EXPO-3] a deleted assistant that is saved again counts as new", async () => {
  const { assistants } = newWorkspace();
  await assistants.saveAssistant({ name: "other" });
  const released = { name: "a", definition: { inboundHook: true } };
  await assistants.saveAssistant({ ...released, confirmExposure: true });
  await assistants.deleteAssistant({ name: "a" });
  await expect(assistants.getAssistant({ name: "a" })).rejects.toMatchObject({ code: Code.NotFound });
  await expect(assistants.saveAssistant(released)).rejects.toMatchObject({ code: Code.Aborted });
  const again = await assistants.saveAssistant({ ...released, confirmExposure: true });
  expect(again.assistant?.version).toBe(2);
});

test("[CHAT] the default assistant can be changed, and is not deleted", async () => {
  const { workspaceId, assistants } = newWorkspace();
  for (const name of ["a", "b"])
    await assistants.saveAssistant({ name, definition: { instructions: `I am ${name}.` } });
  await expect(assistants.deleteAssistant({ name: "a" })).rejects.toMatchObject({ code: Code.FailedPrecondition });
  await expect(assistants.setDefaultAssistant({ name: "nobody" })).rejects.toMatchObject({ code: Code.NotFound });
  await assistants.setDefaultAssistant({ name: "b" });
  await assistants.deleteAssistant({ name: "a" });
  await expect(assistants.setDefaultAssistant({ name: "a" })).rejects.toMatchObject({ code: Code.NotFound });
  await expect(assistants.deleteAssistant({ name: "a" })).rejects.toMatchObject({ code: Code.NotFound });
  expect((await assistants.listAssistants({})).assistants).toMatchObject([{ name: "b", isDefault: true }]);
  expect(await shortEntries(rig.pool, workspaceId)).toEqual([
    "assistant.create a instructions",
    "assistant.create b instructions",
    "assistant.default b",
    "assistant.delete a",
  ]);
});

test("[CHAT] a definition with a tool or a model that does not exist is refused", async () => {
  await rig.tools.saveTool("known", { description: "d", handler: "export default () => 1;" });
  const save = (definition: object, { assistants } = clientsOf(rig)) =>
    assistants.saveAssistant({ name: "tooled", definition });
  await save({ tools: ["known"] });
  for (const [definition, clients, rawMessage] of [
    [{ tools: ["known", "unknown"] }, clientsOf(rig), "tools: no such tool: unknown"],
    [{ models: ["unknown"] }, clientsOf(rig), "models: no such model: unknown"],
    [{ tools: ["known"] }, newWorkspace(), "tools: no such tool: known"],
  ] as const)
    await expect(save(definition, clients)).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage });
});

test.each([
  ["a name with a space", { name: "a b" }],
  ["no name", { name: "" }],
  ["a long name", { name: "x".repeat(65) }],
  ["long instructions", { definition: { instructions: "x".repeat(32_001) } }],
  ["a long greeting", { definition: { greeting: "x".repeat(2_001) } }],
  ["too many suggestions", { definition: { suggestions: Array.from({ length: 11 }, (_, index) => `${index}`) } }],
  ["a blank suggestion", { definition: { suggestions: [" "] } }],
  ["too many models", { definition: { models: Array.from({ length: 6 }, (_, index) => `${index}`) } }],
  ["too many tools", { definition: { tools: Array.from({ length: 101 }, (_, index) => `${index}`) } }],
  ["a tool twice", { definition: { tools: ["a", "a"] } }],
])("[CHAT] %s is refused with its field", async (_, request) => {
  const { assistants } = newWorkspace();
  await expect(assistants.saveAssistant({ name: "a", ...request })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(/^(name|instructions|greeting|suggestions|models|tools): /),
  });
});

test("[CHAT] saves that come together each get a version of their own, and one default results", async () => {
  const { assistants } = newWorkspace();
  const names = ["a", "a", "a", "b", "b", "c"];
  await Promise.all(names.map((name) => assistants.saveAssistant({ name })));
  const { versions } = await assistants.listAssistantVersions({ name: "a" });
  expect(versions.map(({ version }) => version)).toEqual([3, 2, 1]);
  const listed = (await assistants.listAssistants({})).assistants;
  expect(listed.map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(listed.filter(({ isDefault }) => isDefault)).toHaveLength(1);
});

test("[MGMT] [WMGMT] members read, and only managers change", async () => {
  const { assistants, models } = clientsOf(rig, { role: "member" });
  await assistants.listAssistants({});
  await assistants.getChatSettings({});
  await models.listModels({});
  const denied = { code: Code.PermissionDenied };
  await expect(assistants.saveAssistant({ name: "a" })).rejects.toMatchObject(denied);
  await expect(assistants.setDefaultAssistant({ name: "a" })).rejects.toMatchObject(denied);
  await expect(assistants.deleteAssistant({ name: "a" })).rejects.toMatchObject(denied);
  await expect(assistants.updateChatSettings({ tokensPerDay: 1n })).rejects.toMatchObject(denied);
  await expect(models.saveModel({ name: "a" })).rejects.toMatchObject(denied);
  await expect(models.deleteModel({ name: "a" })).rejects.toMatchObject(denied);
});

test("[CHAT] what is not set of the settings stays, and each change is audited", async () => {
  const { workspaceId, assistants } = newWorkspace();
  expect((await assistants.getChatSettings({})).settings).toMatchObject({ tokensPerDay: 0n, allowedOrigins: [] });
  const origins = ["https://www.example.com"];
  const { settings } = await assistants.updateChatSettings({ tokensPerDay: 10n, allowedOrigins: { origins } });
  expect(settings).toMatchObject({ tokensPerDay: 10n, allowedOrigins: origins, tokensToday: 0n });
  await assistants.updateChatSettings({ tokensPerDay: 12n });
  rig.model.answer(say("ok"));
  await rig.untilDone(await rig.send("budget", "Hi", { workspaceId }));
  const now = (await assistants.getChatSettings({})).settings;
  expect(now).toMatchObject({ tokensPerDay: 12n, allowedOrigins: origins, tokensToday: 15n });
  await assistants.updateChatSettings({ allowedOrigins: { origins: [] } });
  expect((await assistants.getChatSettings({})).settings?.allowedOrigins).toEqual([]);
  for (const wrong of [{ allowedOrigins: { origins: ["*"] } }, { tokensPerDay: 2n ** 64n - 1n }])
    await expect(assistants.updateChatSettings(wrong)).rejects.toMatchObject({ code: Code.InvalidArgument });
  expect(await shortEntries(rig.pool, workspaceId)).toEqual([
    "chat_settings.edit chat settings tokens_per_day allowed_origins",
    "chat_settings.edit chat settings tokens_per_day",
    "chat_settings.edit chat settings allowed_origins",
  ]);
});
