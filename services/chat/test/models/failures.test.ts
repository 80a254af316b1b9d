import { eventually } from "@toolgate/testbed/eventually";
import { describe, expect, test } from "vitest";
import { ModelError } from "../../src/models/model.ts";
import { openAiCompatibleModel } from "../../src/models/openai-compatible.ts";
import type { Fault } from "../model-servers/script.ts";
import { startOpenAiServer } from "../model-servers/server.ts";
import { ask, PROVIDERS, QUESTION, settings, WEATHER_TOOL } from "./providers.ts";

const SHORT_MS = 300;
const TEXT = "one two three four";
const OTHER_EVENT = 'data: {"choices":7,"type":8}\n\n';

describe.each(PROVIDERS)("$provider", ({ startServer, createModel }) => {
  test.each<[string, Fault, string, boolean]>([
    ["an error event before the text", { kind: "error", afterTokens: 0, type: "overloaded_error" }, "overloaded", true],
    ["an error event in the text", { kind: "error", afterTokens: 2, type: "overloaded_error" }, "overloaded", false],
    ["a rate limit in the text", { kind: "error", afterTokens: 1, type: "rate_limit_error" }, "rate_limited", false],
    ["a refusal in the text", { kind: "error", afterTokens: 1, type: "invalid_request_error" }, "refused", false],
    ["an event that is not JSON", { kind: "malformed", afterTokens: 2 }, "cut", false],
    ["an event of another kind", { kind: "raw", afterTokens: 1, bytes: OTHER_EVENT }, "cut", false],
    ["a page instead of events", { kind: "raw", afterTokens: 0, bytes: "<html>hello</html>" }, "cut", true],
    ["a reset connection", { kind: "cut", afterTokens: 2 }, "cut", false],
    ["a reset connection before the text", { kind: "cut", afterTokens: 0 }, "cut", true],
    ["an end without the last events", { kind: "end", afterTokens: 2 }, "cut", false],
  ])("%s is an error, after the text so far", async (_title, fault, kind, beforeOutput) => {
    await using server = await startServer({ text: TEXT, fault });
    await using config = settings(server.baseUrl);
    const { text, error, events } = await ask(createModel(config));
    const tokens = "afterTokens" in fault ? fault.afterTokens : 0;
    expect([error?.kind, error?.beforeOutput, text]).toEqual([kind, beforeOutput, ["", "one", "one two"][tokens]]);
    expect(error?.message).not.toContain("secret");
    expect(events.some((event) => event.kind === "finished")).toBe(false);
    expect(server.requests).toHaveLength(1);
    await eventually(() => server.open() === 0);
  });

  test("an error closes the connection, even if the server does not", async () => {
    const fault: Fault = { kind: "error", afterTokens: 2, type: "overloaded_error", staysOpen: true };
    await using server = await startServer({ text: TEXT, fault });
    await using config = settings(server.baseUrl);
    expect((await ask(createModel(config))).error?.kind).toBe("overloaded");
    await eventually(() => server.abandoned() === 1 && server.open() === 0);
  });

  test.each<[number, string]>([
    [400, "refused"],
    [401, "refused"],
    [307, "refused"],
    [502, "overloaded"],
    [504, "timeout"],
  ])("status %i is not repeated, and its message names the code only", async (status, kind) => {
    const body = JSON.stringify({ error: { message: "the key key-of-the-test is wrong", type: "some_type" } });
    const headers = { location: "http://169.254.169.254/" };
    await using server = await startServer({ fault: { kind: "status", status, body, headers } });
    await using config = settings(server.baseUrl);
    const { error } = await ask(createModel(config));
    expect(error).toMatchObject({ kind, beforeOutput: true });
    expect(error?.message).toBe(`the model's server responded with ${status} (some_type)`);
    expect(server.requests).toHaveLength(1);
  });

  test.each<[number, string, Record<string, string>]>([
    [429, "rate_limited", { "retry-after-ms": "20" }],
    [429, "rate_limited", { "retry-after": "0" }],
    [503, "overloaded", { "retry-after": new Date(0).toUTCString() }],
    [529, "overloaded", {}],
  ])("status %i is repeated once: %s, %j", async (status, kind, headers) => {
    const fault: Fault = { kind: "status", status, headers };
    await using server = await startServer((_request, number) => (number === 0 ? { fault } : { text: TEXT }));
    await using config = settings(server.baseUrl);
    const model = createModel(config);
    expect((await ask(model)).text).toBe(TEXT);
    server.answer({ fault });
    expect((await ask(model)).error).toMatchObject({ kind, beforeOutput: true });
    expect(server.requests).toHaveLength(4);
  });

  test.each<[string, Fault, Record<string, number>, boolean]>([
    ["no headers", { kind: "no-headers" }, { firstByteMs: SHORT_MS }, true],
    ["no first byte", { kind: "stall", afterTokens: 0 }, { firstByteMs: SHORT_MS }, true],
    ["silence in the text", { kind: "stall", afterTokens: 2 }, { idleMs: SHORT_MS }, false],
    ["no end in time", { kind: "stall", afterTokens: 2 }, { totalMs: SHORT_MS }, false],
  ])("%s is a timeout, and the connection is closed", async (_title, fault, limits, beforeOutput) => {
    await using server = await startServer({ text: TEXT, fault });
    await using config = settings(server.baseUrl, limits);
    const { error } = await ask(createModel(config));
    expect(error).toMatchObject({ kind: "timeout", beforeOutput });
    await eventually(() => server.abandoned() === 1 && server.open() === 0);
  });

  test("the server sees immediately that the answer was stopped, and the reason reaches the caller", async () => {
    await using server = await startServer({ text: TEXT, fault: { kind: "stall", afterTokens: 2 } });
    await using config = settings(server.baseUrl);
    const stop = new AbortController();
    let text = "";
    const reading = (async () => {
      for await (const event of createModel(config).stream(QUESTION, stop.signal)) {
        if (event.kind === "text") text += event.text;
        if (text === "one two") stop.abort(new Error("stopped by the user"));
      }
    })();
    await expect(reading).rejects.toThrow("stopped by the user");
    await eventually(() => server.abandoned() === 1 && server.open() === 0);
    await expect(ask(createModel(config), QUESTION, stop.signal)).rejects.toThrow("stopped by the user");
    expect(server.requests).toHaveLength(1);
  });

  test("a pause that is too long is not waited for, and a stop ends one", async () => {
    await using server = await startServer({
      fault: { kind: "status", status: 429, headers: { "retry-after": "600" } },
    });
    await using config = settings(server.baseUrl);
    expect((await ask(createModel(config))).error?.kind).toBe("rate_limited");
    await using patient = settings(server.baseUrl, { retryWaitMs: 600_000 });
    const stop = new AbortController();
    const asking = ask(createModel(patient), QUESTION, stop.signal);
    await eventually(() => server.requests.length === 2 && server.open() === 0);
    stop.abort(new Error("stopped"));
    await expect(asking).rejects.toThrow("stopped");
  });

  test("[SSRF-4] a forbidden address, a closed port and an unknown name are unreachable", async () => {
    await using server = await startServer({ text: TEXT });
    await using config = settings(server.baseUrl);
    for (const baseUrl of ["http://169.254.169.254/v1", "http://10.0.0.1/v1", "http://127.0.0.1:1/v1", "file:///v1"]) {
      const { error } = await ask(createModel({ ...config, baseUrl }));
      expect(error).toMatchObject({ kind: "unreachable", beforeOutput: true });
      expect(error).toBeInstanceOf(ModelError);
    }
    expect(server.requests).toHaveLength(0);
  });

  test("at most 25 calls are passed on", async () => {
    const toolCalls = Array.from({ length: 30 }, (_, index) => ({ id: `c${index}`, name: "get_weather", args: "{}" }));
    await using server = await startServer({ text: "x", toolCalls });
    await using config = settings(server.baseUrl);
    expect((await ask(createModel(config), { ...QUESTION, tools: [WEATHER_TOOL] })).calls).toHaveLength(25);
  });
});

test("keys and questions are in no error, whatever the server sends", async () => {
  const bytes = `data: {"error":{"message":"key-of-the-test What is the weather?","code":"x y"}}\n\n`;
  await using server = await startOpenAiServer({ text: TEXT, fault: { kind: "raw", afterTokens: 1, bytes } });
  await using config = settings(server.baseUrl);
  const { error } = await ask(openAiCompatibleModel(config));
  expect(`${error?.message} ${error?.stack} ${JSON.stringify(error)}`).not.toMatch(/key-of-the-test|weather\?/);
  expect(error?.cause).toBeUndefined();
});
