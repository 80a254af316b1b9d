import { describe, expect, test } from "vitest";
import { builtInModel } from "../../src/models/built-in/model.ts";
import { chainModels } from "../../src/models/chain.ts";
import type { Fault } from "../model-servers/script.ts";
import { ask, PROVIDERS, QUESTION, settings } from "./providers.ts";

describe.each(PROVIDERS)("$provider", ({ startServer, createModel }) => {
  test.each<[string, Fault]>([
    ["refuses", { kind: "status", status: 401 }],
    ["is overloaded", { kind: "status", status: 503, headers: { "retry-after": "60" } }],
    ["is cut before the first token", { kind: "cut", afterTokens: 0 }],
    ["sends an error first", { kind: "error", afterTokens: 0, type: "overloaded_error" }],
    ["stalls", { kind: "stall", afterTokens: 0 }],
  ])("the next model answers when the first %s", async (_title, fault) => {
    await using first = await startServer({ fault });
    await using second = await startServer({ text: "from the second" });
    await using config = settings(first.baseUrl, { firstByteMs: 300 });
    const failed: string[] = [];
    const chain = chainModels(
      [createModel(config), createModel({ ...config, name: "second", baseUrl: second.baseUrl }), builtInModel()],
      { onError: (model, error) => failed.push(`${model} ${error.kind}`) },
    );
    const { text, events, error } = await ask(chain);
    expect([text, error]).toEqual(["from the second", undefined]);
    expect(events[0]).toEqual({ kind: "started", model: "second" });
    expect(failed).toHaveLength(1);
    expect(second.requests).toHaveLength(1);
  });

  test("after the first token no other model is asked", async () => {
    await using first = await startServer({ text: "one two", fault: { kind: "cut", afterTokens: 1 } });
    await using second = await startServer({ text: "never" });
    await using config = settings(first.baseUrl);
    const chain = chainModels([createModel(config), createModel({ ...config, baseUrl: second.baseUrl })]);
    const { text, error } = await ask(chain);
    expect([text, error?.kind, error?.beforeOutput]).toEqual(["one", "cut", false]);
    expect(second.requests).toHaveLength(0);
  });

  test("when all fail, the error is that of the last; a stop ends the chain", async () => {
    await using first = await startServer({ fault: { kind: "status", status: 401 } });
    await using second = await startServer({ fault: { kind: "status", status: 500 } });
    await using config = settings(first.baseUrl);
    const chain = chainModels([createModel(config), createModel({ ...config, baseUrl: second.baseUrl })]);
    expect((await ask(chain)).error?.kind).toBe("overloaded");
    await expect(ask(chain, QUESTION, AbortSignal.abort(new Error("stopped")))).rejects.toThrow("stopped");
    expect([first.requests.length, second.requests.length]).toEqual([1, 1]);
  });
});

test("a chain without a model is an error", () => {
  expect(() => chainModels([])).toThrow(TypeError);
});
