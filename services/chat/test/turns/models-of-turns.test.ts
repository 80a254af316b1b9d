import { createServer } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatRig, kindsOf, startChatRig, streamedText } from "../chat-rig.ts";
import { type ModelServer, startOpenAiServer } from "../model-servers/server.ts";

describe("models of turns", () => {
  let rig: ChatRig;
  let server: ModelServer;
  beforeAll(async () => {
    rig = await startChatRig({ realModels: true });
    server = await startOpenAiServer();
    await rig.saveModel("local", server.baseUrl);
    await rig.saveModel("broken", `http://127.0.0.1:${await unusedPort()}/v1`);
    await rig.saveAssistant("agent", { instructions: "Be brief.", models: ["broken", "local"] });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await rig[Symbol.asyncDispose]();
  });

  it("[CHAT] the first model that responds answers, and is told the format and the instructions", async () => {
    server.answer({ text: "<p>Hello</p>", usage: { inputTokens: 12, outputTokens: 3 } });
    const turn = await rig.send("chain", "Hi", { assistant: "agent" });
    const { receipt } = await rig.untilDone(turn);
    expect(receipt).toMatchObject({ inputTokens: 12, outputTokens: 3 });
    expect(streamedText(await rig.events(turn.chat))).toBe("<p>Hello</p>");
    expect(JSON.stringify(server.requests[0]?.body.messages[0])).toMatch(/simple HTML.*Be brief\./);
  });

  it("[CHAT] a model whose key cannot be opened does not keep the next one from answering", async () => {
    server.answer({ text: "Hello" });
    await rig.saveModel("sealed", server.baseUrl);
    await rig.pool.query("update chat.model set api_key = 'not sealed' where name = 'sealed'");
    await rig.saveAssistant("fallback", { models: ["sealed", "local"] });
    const turn = await rig.send("fallback", "Hi", { assistant: "fallback" });
    const { receipt } = await rig.untilDone(turn);
    expect(receipt?.model).toBe("local");
  });

  it("[CHAT] an assistant without a model gets the built-in one", async () => {
    const requests = server.requests.length;
    const turn = await rig.send("built-in", "Hello");
    const { receipt } = await rig.untilDone(turn);
    expect(receipt?.model).toBe("built-in");
    expect(kindsOf(await rig.events(turn.chat)).at(-1)).toBe("done");
    expect(server.requests).toHaveLength(requests);
  });

  it("[CHAT] the builder follows its script until the default assistant has models, and then asks those", async () => {
    await rig.tools.saveTool("orders", { handler: "export default () => ({});" });
    const asked = await rig.send("script", "Release orders", { assistant: "@builder" });
    expect(await rig.untilDone(asked)).toMatchObject({ receipt: { model: "built-in" } });
    expect(streamedText(await rig.events(asked.chat))).toContain("I have proposed it");
    await rig.saveAssistant("helper", { models: ["local"] });
    server.answer({ text: "Which one?" });
    const turn = await rig.send("talk", "Release it", { assistant: "@builder" });
    expect(await rig.untilDone(turn)).toMatchObject({ receipt: { model: "local" } });
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain("propose_release");
  });
});

async function unusedPort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => probe.once("listening", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
