import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { ModelProvider } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { createSecretBox } from "@toolgate/secret-box/secret-box";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiKeyContext } from "../../src/domain/model-server.ts";
import { type ChatRig, startChatRig } from "../chat-rig.ts";
import { auditEntries, keepAuditEntries } from "./audit-entries.ts";
import { clientsOf } from "./clients.ts";

const KEY = "sk-a-secret-key";
const SERVER = {
  name: "local",
  provider: ModelProvider.OPENAI_COMPATIBLE,
  baseUrl: "http://127.0.0.1:9/v1",
  model: "some-model",
};

let rig: ChatRig;
beforeAll(async () => {
  rig = await startChatRig();
  await keepAuditEntries(rig.pool);
});
afterAll(() => rig[Symbol.asyncDispose]());

function newWorkspace() {
  const workspaceId = randomUUID();
  return { workspaceId, ...clientsOf(rig, { workspaceId }) };
}

async function storedKey(workspaceId: string): Promise<string | null> {
  const { rows } = await rig.pool.query("select api_key from chat.model where workspace_id = $1", [workspaceId]);
  const box = createSecretBox({ keys: rig.config.sealingKeys });
  return rows[0].api_key === null ? null : box.open(rows[0].api_key, apiKeyContext(workspaceId, "local"));
}

test("[CHAT] a model's API key is stored encrypted, never returned, and not in the audit log", async () => {
  const { workspaceId, models } = newWorkspace();
  const { model } = await models.saveModel({ ...SERVER, apiKey: KEY, readsFiles: true });
  expect(model).toMatchObject({ ...SERVER, hasApiKey: true, readsFiles: true, savedBy: "manager@example.test" });
  expect(await storedKey(workspaceId)).toBe(KEY);
  const listed = await models.listModels({});
  expect(listed.models).toHaveLength(1);
  expect(JSON.stringify(listed, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(KEY);
  const stored = await rig.pool.query("select m::text || encode(m.api_key, 'escape') as row from chat.model m");
  expect(stored.rows[0].row).not.toContain(KEY);
  const [entry] = await auditEntries(rig.pool, workspaceId);
  const fields = ["provider", "base_url", "model", "reads_files", "api_key"];
  expect(entry).toMatchObject({ action: "model.save", targetId: "local", actor: "manager@example.test", fields });
  expect(Object.values(entry ?? {}).join()).not.toContain(KEY);
});

test("[CHAT] a save without a key keeps the stored one, an empty one removes it, and another server never gets it", async () => {
  const { workspaceId, models } = newWorkspace();
  await models.saveModel({ ...SERVER, apiKey: KEY });
  await models.saveModel({ ...SERVER, model: "another", baseUrl: "http://127.0.0.1:9/v2/" });
  expect(await storedKey(workspaceId)).toBe(KEY);
  const elsewhere = { ...SERVER, baseUrl: "http://127.0.0.1:10/v1" };
  await expect(models.saveModel(elsewhere)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: "api_key: needed, because base_url names another server",
  });
  expect((await models.listModels({})).models).toMatchObject([{ model: "another", baseUrl: "http://127.0.0.1:9/v2" }]);
  await models.saveModel({ ...elsewhere, apiKey: "" });
  expect((await models.listModels({})).models).toMatchObject([{ hasApiKey: false, baseUrl: elsewhere.baseUrl }]);
});

test.each([
  ["a private address", { baseUrl: "https://10.0.0.1/v1" }, /^base_url: target address not allowed/],
  ["http to a public address", { baseUrl: "http://93.184.216.34/v1" }, /^base_url: only https/],
  ["credentials in the URL", { baseUrl: "https://a:b@127.0.0.1/v1" }, /^base_url: no credentials/],
  ["a query", { baseUrl: "https://127.0.0.1/v1?key=1" }, /^base_url: no query/],
  ["another scheme", { baseUrl: "file:///etc/passwd" }, /^base_url: /],
  ["a name that does not resolve", { baseUrl: "https://nothing.invalid/v1" }, /^base_url: the host does not resolve/],
  ["no provider", { provider: ModelProvider.UNSPECIFIED }, /^provider: /],
  ["an unknown provider", { provider: 99 as ModelProvider }, /^provider: /],
  ["no model", { model: "" }, /^model: /],
  ["a model with a space", { model: "a b" }, /^model: /],
  ["a key with a line break", { apiKey: "a\nb" }, /^api_key: /],
  ["a bad name", { name: "a/b" }, /^name: /],
])("[SSRF-1] [CHAT] %s is refused", async (_, wrong, message) => {
  const { models } = newWorkspace();
  await expect(models.saveModel({ ...SERVER, ...wrong })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(message),
  });
  expect((await models.listModels({})).models).toEqual([]);
});

test("[CHAT] a model is not deleted while the newest version of an assistant uses it", async () => {
  const { workspaceId, models, assistants } = newWorkspace();
  await models.saveModel(SERVER);
  await assistants.saveAssistant({ name: "a", definition: { models: ["local"] } });
  await expect(models.deleteModel({ name: "local" })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: "the model is used by a",
  });
  const foreign = newWorkspace();
  await expect(foreign.models.deleteModel({ name: "local" })).rejects.toMatchObject({ code: Code.NotFound });
  await assistants.saveAssistant({ name: "a", definition: {} });
  await models.deleteModel({ name: "local" });
  await expect(models.deleteModel({ name: "local" })).rejects.toMatchObject({ code: Code.NotFound });
  const { rows } = await rig.pool.query("select from chat.model where workspace_id = $1", [workspaceId]);
  expect(rows).toEqual([]);
});

test("[CHAT] a model that is deleted while an assistant with it is saved is either kept or not accepted", async () => {
  const { models, assistants } = newWorkspace();
  for (let round = 0; round < 10; round += 1) {
    await models.saveModel(SERVER);
    await assistants.saveAssistant({ name: "a", definition: {} });
    const [saved, deleted] = await Promise.allSettled([
      assistants.saveAssistant({ name: "a", definition: { models: ["local"] } }),
      models.deleteModel({ name: "local" }),
    ]);
    expect([saved.status, deleted.status].toSorted()).toEqual(["fulfilled", "rejected"]);
  }
});
