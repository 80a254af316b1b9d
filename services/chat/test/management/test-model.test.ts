import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { ModelFault, ModelProvider } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAiCompatibleModel } from "../../src/models/openai-compatible.ts";
import { tryModel } from "../../src/models/try-model.ts";
import { type ChatRig, startChatRig } from "../chat-rig.ts";
import type { Script } from "../model-servers/script.ts";
import { startAnthropicServer, startOpenAiServer } from "../model-servers/server.ts";
import { settings } from "../models/providers.ts";
import { clientsOf } from "./clients.ts";

const KEY = "sk-a-secret-key";
const CALL: Script = { toolCalls: [{ id: "a", name: "ping", args: "{}" }] };
const refused = (status: number, code?: string): Script => ({
  fault: { kind: "status", status, ...(code && { body: JSON.stringify({ error: { code, message: KEY } }) }) },
});
const INVALID = { type: "invalid_request_error", param: null };
const NO_MODEL = "The model `m` does not exist";
/** As servers write it: what, of `error`. */
const NOT_FOUND: [string, object, ModelFault][] = [
  [
    "OpenAI, without /v1",
    { ...INVALID, message: "Invalid URL (POST /chat/completions)", code: null },
    ModelFault.ADDRESS,
  ],
  ["OpenAI, no such model", { ...INVALID, message: NO_MODEL, code: "model_not_found" }, ModelFault.MODEL],
  ["Anthropic, wrong path", { type: "not_found_error", message: "Not Found" }, ModelFault.ADDRESS],
  ["Anthropic, no such model", { type: "not_found_error", message: "model: m" }, ModelFault.MODEL],
  ["vLLM, no such model", { message: NO_MODEL, type: "NotFoundError", param: "model", code: 404 }, ModelFault.MODEL],
];
const PAGE: Script = { fault: { kind: "raw", afterTokens: 0, bytes: "<html>hello</html>" } };

let rig: ChatRig;
beforeAll(async () => {
  rig = await startChatRig({ realModels: true });
});
afterAll(() => rig[Symbol.asyncDispose]());

describe.each([
  ["OpenAI's API", ModelProvider.OPENAI_COMPATIBLE, startOpenAiServer],
  ["Anthropic's API", ModelProvider.ANTHROPIC, startAnthropicServer],
] as const)("%s", (_, provider, startServer) => {
  async function faultWith(script: Script): Promise<{ fault: ModelFault; error: string; requests: number }> {
    await using server = await startServer(script);
    const { models } = clientsOf(rig, { workspaceId: randomUUID() });
    const tested = { name: "new", provider, baseUrl: server.baseUrl, model: "m", apiKey: KEY };
    const { fault, error } = await models.testModel(tested);
    expect(error).not.toContain(KEY);
    return { fault, error, requests: server.requests.length };
  }

  test.each<[string, Script, ModelFault]>([
    ["calls the tool", CALL, ModelFault.UNSPECIFIED],
    ["answers without calling the tool", { text: "pong" }, ModelFault.TOOLS],
    ["refuses the key", refused(401), ModelFault.API_KEY],
    ["refuses the key in words", refused(400, "invalid_api_key"), ModelFault.API_KEY],
    ["has no such model", refused(404, "model_not_found"), ModelFault.MODEL],
    ["has nothing at this path", refused(404), ModelFault.ADDRESS],
    ["answers with a page", PAGE, ModelFault.ADDRESS],
    ["is out of order", refused(500), ModelFault.OTHER],
    ["is out of order, as it says of the model", refused(500, "model_error"), ModelFault.OTHER],
  ])("[CHAT] the test of a model that %s names what is wrong", async (_title, script, wanted) => {
    const { fault, error, requests } = await faultWith(script);
    expect({ fault, error: error === "" }).toEqual({ fault: wanted, error: wanted === ModelFault.UNSPECIFIED });
    expect(requests).toBe(1);
  });

  test.each(NOT_FOUND)(
    "[CHAT] a 404 blames the model's name only if it is about it: %s",
    async (_title, error, wanted) => {
      const body = JSON.stringify({ error });
      expect((await faultWith({ fault: { kind: "status", status: 404, body } })).fault).toBe(wanted);
    },
  );

  test("[CHAT] a server that refuses tools, but answers without them, is said to do so", async () => {
    await using server = await startServer(({ body: { tools } }) => (tools ? refused(400) : { text: "pong" }));
    const { models } = clientsOf(rig, { workspaceId: randomUUID() });
    const { fault } = await models.testModel({ name: "new", provider, baseUrl: server.baseUrl, model: "m" });
    expect(fault).toBe(ModelFault.TOOLS);
    const [request] = server.requests;
    expect(request?.body).toMatchObject({ model: "m", tools: [expect.anything()] });
  });
});

test("[CHAT] a server that never answers is a fault of the address, before the caller gives up", async () => {
  await using server = await startOpenAiServer({ fault: { kind: "no-headers" } });
  await using config = settings(server.baseUrl);
  const fault = await tryModel(openAiCompatibleModel(config), new AbortController().signal, 100);
  expect(fault).toEqual({ fault: ModelFault.ADDRESS, error: "The model's server did not finish its answer in 0.1 s." });
});

test("[CHAT] nothing at the address, and an address that is not allowed, are faults of the address", async () => {
  const { models } = clientsOf(rig);
  const provider = ModelProvider.OPENAI_COMPATIBLE;
  for (const baseUrl of ["http://127.0.0.1:9/v1", "https://10.0.0.1/v1", "not a URL"]) {
    const { fault, error } = await models.testModel({ name: "new", provider, baseUrl, model: "m" });
    expect([baseUrl, fault, error !== ""]).toEqual([baseUrl, ModelFault.ADDRESS, true]);
  }
});

test("[CHAT] the stored key is tested at its own server only, nothing is stored, and members may not test", async () => {
  await using server = await startOpenAiServer(CALL);
  await using other = await startOpenAiServer(CALL);
  const workspaceId = randomUUID();
  const { models } = clientsOf(rig, { workspaceId });
  const saved = { name: "kept", provider: ModelProvider.OPENAI_COMPATIBLE, baseUrl: server.baseUrl, model: "m" };
  await models.saveModel({ ...saved, apiKey: KEY });
  expect((await models.testModel(saved)).fault).toBe(ModelFault.UNSPECIFIED);
  expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  await expect(models.testModel({ ...saved, baseUrl: other.baseUrl })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: "api_key: needed, because base_url names another server",
  });
  await models.testModel({ ...saved, name: "unsaved", baseUrl: other.baseUrl, apiKey: "another" });
  expect(other.requests.map(({ headers }) => headers.authorization)).toEqual(["Bearer another"]);
  expect((await models.listModels({})).models.map(({ name }) => name)).toEqual(["kept"]);
  const { rows } = await rig.pool.query("select from chat.usage where workspace_id = $1", [workspaceId]);
  expect(rows).toEqual([]);
  await expect(clientsOf(rig, { role: "member", workspaceId }).models.testModel(saved)).rejects.toMatchObject({
    code: Code.PermissionDenied,
  });
});
