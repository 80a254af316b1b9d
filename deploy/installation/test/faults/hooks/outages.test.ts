import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ModelServer, startOpenAiServer } from "../../../../../services/chat/test/model-servers/server.ts";
import { saveModel } from "../../chat/front-door.ts";
import { callHook, createHook, runHooks, type TestHook } from "../../hooks/hooks.ts";
import type { RunningToolgate } from "../../running-toolgate.ts";

/** Long enough for a part to be stopped meanwhile. */
const SLOW_MS = 4_000;
/** A process comes back within seconds, an expired lease takes 30 s. */
const PATIENCE = { deadlineMs: 100_000 };

interface Outcome {
  status: string;
  error: string;
  runs: number;
}

const SUCCEEDED: Outcome = { status: "succeeded", error: "", runs: 1 };
const UNKNOWN: Outcome = {
  status: "failed",
  error: "the platform failed during the run: what the tool did is not known",
  runs: 1,
};

/** The table "down" in docs/operators.md. */
describe("what hooks see while a part is down", () => {
  let toolgate: RunningToolgate;
  let models: ModelServer;
  let quick: TestHook;
  let slow: TestHook;
  let assistant: TestHook;
  let calls = 0;

  beforeAll(async () => {
    models = await startOpenAiServer();
    models.answer({ text: "<p>Understood.</p>" });
    const roles = { "inbound-hook": { receiver: 1, runner: 1 } };
    toolgate = await runHooks("split", { ownPostgres: true, roles, env: { ALLOWED_TARGETS: "127.0.0.1" } });
    toolgate.receiver.behave(({ path }) => (path.startsWith("/slow/") ? { delayMs: SLOW_MS } : {}));
    const handler = `export default async ({ text }, ctx) => {
      await ctx.fetch("${toolgate.receiver.url}/slow/" + text, { method: "POST" });
      return { success: true };
    };`;
    const parameters = { type: "object", properties: { text: { type: "string" } } };
    await toolgate.saveTool("slow", { inbound_hook: true, parameters, handler });
    await saveModel(toolgate, "scripted", models.baseUrl);
    await toolgate.manage("chat.v1.AssistantService/SaveAssistant", {
      name: "clerk",
      definition: { instructions: "Note what comes in.", models: ["scripted"], inbound_hook: true },
      confirmExposure: true,
    });
    quick = await createHook(toolgate);
    slow = await createHook(toolgate, { target: { tool: "slow" } });
    assistant = await createHook(toolgate, { target: { assistant: "clerk" } });
    for (const hook of [quick, slow, assistant]) expect(await outcomeOf(await accept(hook))).toEqual(SUCCEEDED);
  });
  afterAll(async () => {
    await toolgate?.[Symbol.asyncDispose]();
    await models?.[Symbol.asyncDispose]();
  });

  const nextText = () => {
    calls += 1;
    return `call-${calls}`;
  };
  const send = (hook: TestHook, text = nextText()) => callHook(toolgate, hook, JSON.stringify({ text }));

  async function accept(hook: TestHook, text = nextText()): Promise<string> {
    const response = await send(hook, text);
    expect(response.status).toBe(202);
    return String(response.body.delivery_id);
  }

  /** How a delivery ended. */
  function outcomeOf(deliveryId: string): Promise<Outcome> {
    return eventually(async () => {
      const { rows } = await toolgate.pool.query(
        "select status, error, runs from inbound_hook.delivery where id = $1",
        [deliveryId],
      );
      return !["waiting", "running"].includes(rows[0].status) && (rows[0] as Outcome);
    }, PATIENCE);
  }

  /** A call whose tool is running now. */
  async function startSlow(): Promise<string> {
    const text = nextText();
    const id = await accept(slow, text);
    await eventually(() => toolgate.receiver.requests.some(({ path }) => path === `/slow/${text}`), PATIENCE);
    return id;
  }

  /** Its supervisor starts it again, which takes at least a second. */
  function kill(name: string): void {
    const process_ = toolgate.processes().find((running) => running.name === name);
    if (!process_?.pid) throw new Error(`${name} does not run`);
    process.kill(process_.pid, "SIGKILL");
  }

  test("[IN-22] Postgres: 503, and the results of runs under way wait until it is back", async () => {
    const { postgres } = toolgate;
    const underWay = await startSlow();
    await postgres?.stop();
    const response = await send(quick);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
    await postgres?.restart();
    expect(await outcomeOf(underWay)).toEqual(SUCCEEDED);
    expect(await eventually(async () => (await send(quick)).status === 202)).toBe(true);
  });

  test("[IN-22] Redis: calls are accepted and run; a change of a hook is made, but not confirmed", async () => {
    const { redis, manage } = toolgate;
    await redis.stop();
    const id = await accept(quick);
    const change = manage("inbound_hook.v1.HookService/UpdateHook", { hookId: quick.id, limit: 9_000 });
    await expect(change).rejects.toThrow(/503: .*"unavailable","message":"saved, not yet propagated; retry/);
    expect(await outcomeOf(id)).toEqual(SUCCEEDED);
    await redis.restart();
    const { hook } = await manage<{ hook: { limit: number } }>("inbound_hook.v1.HookService/GetHook", {
      hookId: quick.id,
    });
    expect(hook.limit).toBe(9_000);
  });

  test("[IN-22] NATS: calls are accepted, runs of tools count as failed, and assistants work", async () => {
    const { nats } = toolgate;
    await nats.stop();
    const id = await accept(quick);
    const ofAssistant = await accept(assistant);
    expect(await outcomeOf(id)).toEqual(UNKNOWN);
    expect(await outcomeOf(ofAssistant)).toEqual(SUCCEEDED);
    await nats.restart();
    expect(await eventually(async () => (await outcomeOf(await accept(quick))).status === "succeeded", PATIENCE)).toBe(
      true,
    );
  });

  test("[IN-33] tool-runner: calls are accepted and run when it is back; a run under way has failed", async () => {
    const underWay = await startSlow();
    kill("tool-runner");
    expect(await outcomeOf(underWay)).toEqual(UNKNOWN);
    expect(await outcomeOf(await accept(quick))).toEqual(SUCCEEDED);
  });

  test("[IN-60] chat: calls are accepted, and the assistant runs when it is back", async () => {
    kill("chat");
    expect(await outcomeOf(await accept(assistant))).toEqual(SUCCEEDED);
  });

  test("[IN-22] key-auth: only hooks in a receiver's memory accept calls, which run when it is back", async () => {
    const cold = await createHook(toolgate);
    kill("key-auth");
    const [warmId, response] = [await accept(quick), await send(cold)];
    expect(response.status).toBe(503);
    expect(await outcomeOf(warmId)).toEqual(SUCCEEDED);
    expect(await eventually(async () => (await send(cold)).status === 202)).toBe(true);
  });

  test("[IN-34] runner: calls wait; a run under way becomes interrupted and is not repeated", async () => {
    const underWay = await startSlow();
    kill("runner");
    const id = await accept(quick);
    expect(await outcomeOf(id)).toEqual(SUCCEEDED);
    expect(await outcomeOf(underWay)).toMatchObject({ status: "interrupted", runs: 1 });
  });

  test("[IN-22] receiver: 503 while there is none", async () => {
    const receiver = toolgate.processes().find(({ name }) => name === "receiver");
    await receiver?.stop();
    const response = await send(quick);
    expect(response.status).toBe(503);
    expect(response.headers.get("retry-after")).toBe("1");
  });
});
