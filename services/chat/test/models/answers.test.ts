import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../src/models/model.ts";
import { ask, PROVIDERS, QUESTION, settings, WEATHER_TOOL } from "./providers.ts";

describe.each(PROVIDERS)("$provider", ({ provider, startServer, createModel }) => {
  test("[CHAT-16] an answer streams token by token, with its usage at the end", async () => {
    const usage = { inputTokens: 120, outputTokens: 7 };
    await using server = await startServer({ text: "<p>It is sunny.</p>", usage });
    await using config = settings(server.baseUrl);
    const { events, text } = await ask(createModel(config));
    expect(text).toBe("<p>It is sunny.</p>");
    // Tokens that arrive together may be one event.
    expect(events.filter((event) => event.kind !== "text")).toEqual([
      { kind: "started", model: "main" },
      { kind: "finished", usage },
    ]);
    expect(events.slice(1, -1).every((event) => event.kind === "text")).toBe(true);
  });

  test("[CHAT-16] unusable numbers of tokens become numbers that can be stored", async () => {
    await using server = await startServer({ text: "x", usage: { inputTokens: 1.6, outputTokens: 1e30 } });
    await using config = settings(server.baseUrl);
    const usageOf = async () => (await ask(createModel(config))).events.at(-1);
    expect(await usageOf()).toMatchObject({ usage: { inputTokens: 2, outputTokens: 10_000_000 } });
    server.answer({ text: "x", usage: { inputTokens: -7, outputTokens: 0.2 } });
    expect(await usageOf()).toMatchObject({ usage: { inputTokens: 0, outputTokens: 0 } });
  });

  test("parallel tool calls in fragments are put together", async () => {
    const toolCalls = [
      { id: "call_a", name: "get_weather", args: '{"city":"Berlin","days":[1,2]}' },
      { id: "call_b", name: "get_weather", args: '{"city":"Zürich 👍"}' },
      { id: "call_c", name: "list_cities", args: "{}" },
    ];
    await using server = await startServer({ text: "Let me look.", toolCalls, fragmentChars: 3 });
    await using config = settings(server.baseUrl);
    const { text, calls } = await ask(createModel(config), { ...QUESTION, tools: [WEATHER_TOOL] });
    expect(text).toBe("Let me look.");
    expect(calls.map(({ id, name, args }) => [id, name, JSON.parse(args)])).toEqual(
      toolCalls.map(({ id, name, args }) => [id, name, JSON.parse(args)]),
    );
  });

  test("arguments that are not JSON reach the caller, who can tell the model", async () => {
    await using server = await startServer({ toolCalls: [{ id: "a", name: "get_weather", args: '{"city": Berlin' }] });
    await using config = settings(server.baseUrl);
    const { calls, error } = await ask(createModel(config), { ...QUESTION, tools: [WEATHER_TOOL] });
    expect(error).toBeUndefined();
    expect(calls).toMatchObject([{ args: '{"city": Berlin' }]);
  });

  test("the whole conversation is sent: instructions, tools, calls, results and failures", async () => {
    await using server = await startServer({ text: "ok" });
    await using config = settings(server.baseUrl);
    const request: ModelRequest = {
      instructions: "Be brief.",
      tools: [WEATHER_TOOL],
      maxOutputTokens: 200,
      messages: [
        { role: "assistant", text: "the end of an older answer" },
        { role: "user", text: "Weather in Berlin and Bern?" },
        {
          role: "assistant",
          text: "",
          toolCalls: [
            { id: "a", name: "get_weather", args: '{"city":"Berlin"}' },
            { id: "b", name: "get_weather", args: "{broken" },
          ],
        },
        {
          role: "tool",
          results: [
            { id: "a", name: "get_weather", output: '{"sky":"clear"}', failed: false },
            { id: "b", name: "get_weather", output: "the arguments are not JSON", failed: true },
          ],
        },
      ],
    };
    expect((await ask(createModel(config), request)).text).toBe("ok");
    expect(server.requests[0]?.body).toMatchObject(provider === "anthropic" ? ANTHROPIC_BODY : OPENAI_BODY);
    const key = provider === "anthropic" ? "x-api-key" : "authorization";
    expect(server.requests[0]?.headers[key]).toContain("key-of-the-test");
  });

  test("[CHAT-11] images and PDF files are sent to a model that reads them, and named to one that does not", async () => {
    await using server = await startServer({ text: "ok" });
    await using config = settings(server.baseUrl);
    const file = (name: string, mediaType: string) => ({ name, mediaType, data: Buffer.from(name) });
    const files = [file("a.png", "image/png"), file("b.pdf", "application/pdf"), file("c.zip", "application/zip")];
    const request = { ...QUESTION, messages: [{ role: "user" as const, text: "Look.", files }] };
    await ask(createModel(config), request);
    await ask(createModel({ ...config, readsFiles: false }), request);
    const sent = server.requests.map(({ body }) => JSON.stringify(body.messages));
    for (const name of ["a.png", "b.pdf"]) expect(sent[0]).toContain(Buffer.from(name).toString("base64"));
    expect(sent[0]).toContain('\\"c.zip\\" (application/zip), which you cannot read');
    for (const { name } of files) expect(sent[1]).toContain(`\\"${name}\\"`);
    expect(sent[1]).not.toContain("base64");
  });

  test("after a takeover the model continues after what was already streamed", async () => {
    const text = "<p>It is sunny and warm.</p>";
    await using server = await startServer({ text });
    await using config = settings(server.baseUrl);
    const partial = "<p>It is sun";
    const rest = await ask(createModel(config), { ...QUESTION, partial });
    expect(partial + rest.text).toBe(text);
  });

  test("a path before the version and a key that is empty are fine", async () => {
    await using server = await startServer({ text: "ok" });
    await using config = settings(server.baseUrl);
    expect((await ask(createModel({ ...config, apiKey: "", baseUrl: `${server.baseUrl}/` }))).text).toBe("ok");
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });
});

const OPENAI_BODY = {
  model: "m-1",
  stream: true,
  max_tokens: 200,
  stream_options: { include_usage: true },
  tools: [{ type: "function", function: WEATHER_TOOL }],
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Weather in Berlin and Bern?" },
    {
      role: "assistant",
      tool_calls: [
        { id: "a", type: "function", function: { name: "get_weather", arguments: '{"city":"Berlin"}' } },
        { id: "b", type: "function", function: { name: "get_weather", arguments: "{}" } },
      ],
    },
    { role: "tool", tool_call_id: "a", content: '{"sky":"clear"}' },
    { role: "tool", tool_call_id: "b", content: "the arguments are not JSON" },
  ],
};

const ANTHROPIC_BODY = {
  model: "m-1",
  stream: true,
  max_tokens: 200,
  system: [{ type: "text", text: "Be brief." }],
  tools: [{ name: "get_weather", description: WEATHER_TOOL.description, input_schema: WEATHER_TOOL.parameters }],
  messages: [
    { role: "user", content: [{ type: "text", text: "Weather in Berlin and Bern?" }] },
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "a", name: "get_weather", input: { city: "Berlin" } },
        { type: "tool_use", id: "b", name: "get_weather", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a", content: '{"sky":"clear"}' },
        { type: "tool_result", tool_use_id: "b", content: "the arguments are not JSON", is_error: true },
      ],
    },
  ],
};
