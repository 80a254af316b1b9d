import { randomUUID } from "node:crypto";
import { provision } from "@toolgate/key-auth/operator/provision";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { headerValues, sendRaw } from "../bad-input/raw-http.ts";
import { type ChatFrontDoor, type ChatUser, openChat, signIn } from "./front-door.ts";

type Query = Record<string, string>;

const PATHS = [
  ["POST", "/chat/index"],
  ["GET", "/chat/stream"],
  ["GET", "/chat/resume"],
  ["GET", "/chat/history"],
  ["POST", "/chat/reset"],
  ["POST", "/chat/stop"],
] as const;

/** What each path needs besides tenant and chat_id. */
const NEEDED: Record<string, Query> = {
  "/chat/index": { message: "hello" },
  "/chat/stream": { message: "hello" },
  "/chat/resume": { last_event_id: "0" },
};

describe("requests of chats", () => {
  let door: ChatFrontDoor;
  let member: ChatUser;
  let stranger: ChatUser;
  beforeAll(async () => {
    door = await openChat("single");
    const { pool } = door.toolgate;
    const newUser = async (workspace: string) => {
      const account = { workspace, email: `${randomUUID()}@example.test`, password: "a password" };
      await provision(pool, { ...account, role: "member" });
      return signIn(door.toolgate, account);
    };
    member = await newUser(door.tenant);
    stranger = await newUser(`w-${randomUUID().slice(0, 8)}`);
  });
  afterAll(() => door[Symbol.asyncDispose]());

  const ask = (method: string, path: string, parameters: Query, headers: Record<string, string>) =>
    method === "GET" ? door.get(path, parameters, headers) : door.post(path, parameters, headers);
  const refusal = async (method: string, path: string, parameters: Query, headers = door.user.headers as Query) => {
    const { status, body } = await ask(method, path, parameters, headers);
    const { error } = body as { error: { code: string; message: string } };
    expect(Object.keys(body)).toEqual(["error"]);
    expect(Object.keys(error).sort()).toEqual(["code", "message"]);
    expect(error.message).toEqual(expect.any(String));
    return `${status} ${error.code}`;
  };
  const needed = (path: string, more: Query = {}) => ({ chat_id: "c", ...NEEDED[path], ...more });

  test.each(PATHS)(
    "[CHAT-2] [CHAT-7] [CHAT-47] [CHAT-48] [CHAT-49] [CHAT-54] %s %s responds 401, 400 or 403 in this order, otherwise 200",
    async (method, path) => {
      const apiKey = await door.toolgate.createKey({ name: "k", tools: ["greet"], limit: 10 });
      const bad = { tenant: "no-such", chat_id: "no spaces" };
      expect(await refusal(method, path, bad, {})).toBe("401 UNAUTHENTICATED");
      expect(await refusal(method, path, bad, { authorization: "Bearer made-up" })).toBe("401 UNAUTHENTICATED");
      const key = { authorization: `Bearer ${apiKey.secret}` };
      expect(await refusal(method, path, needed(path), key)).toBe("401 UNAUTHENTICATED");
      const { body } = await ask(method, path, needed(path, { tenant: "" }), door.user.headers);
      expect(body).toEqual({ error: { code: "INVALID_PARAMETERS", message: "tenant: missing" } });
      for (const wrong of [
        bad,
        ...["", "x".repeat(129), "a/b", "apikey_1", "hook_1_x"].map((chat_id) => ({ chat_id })),
      ])
        expect(await refusal(method, path, needed(path, wrong))).toBe("400 INVALID_PARAMETERS");
      for (const tenant of ["no-such", "nul\0", "x".repeat(5_000)])
        expect(await refusal(method, path, needed(path, { tenant }))).toBe("403 FORBIDDEN");
      const good = needed(path, { chat_id: `good-${path.slice(6)}` });
      expect((await ask(method, path, good, door.user.headers)).status).toBe(200);
    },
  );

  test("[CHAT-6] each chat_id is a conversation of its own, and one that is used again continues", async () => {
    for (const [chatId, name] of [
      ["task-1", "Ada"],
      ["task-2", "Bob"],
      ["task-1", "Cyd"],
    ])
      await door.post("/chat/index", { chat_id: chatId, message: `greet ${name}` });
    const questions = async (chatId: string) =>
      (await door.history(chatId)).filter(({ role }) => role === "user").map(({ content }) => content);
    expect(await questions("task-1")).toEqual(["greet Ada", "greet Cyd"]);
    expect(await questions("task-2")).toEqual(["greet Bob"]);
  });

  test.each(PATHS)(
    "[CHAT-5] [CHAT-50] %s %s does not show a user another user's chat or workspace",
    async (method, path) => {
      const unknown = await ask(method, path, needed(path, { tenant: "no-such" }), stranger.headers);
      const foreign = await ask(method, path, needed(path), stranger.headers);
      expect(foreign.status).toBe(403);
      expect({ ...foreign, headers: undefined }).toEqual({ ...unknown, headers: undefined });
      const chatId = `mine-${path.slice(6)}`;
      await door.post("/chat/index", { chat_id: chatId, message: "my secret" });
      const answer = await ask(method, path, needed(path, { chat_id: chatId }), member.headers);
      expect(answer.status).toBe(403);
      expect(answer.text).not.toContain("secret");
      expect(await door.history(chatId)).toHaveLength(2);
    },
  );

  test.each(PATHS)("[CHAT-50] %s %s of a locked workspace is refused", async (method, path) => {
    const lock = (locked: boolean) =>
      door.toolgate.pool.query("update key_auth.workspaces set locked = $2 where code = $1", [door.tenant, locked]);
    await lock(true);
    try {
      expect(await refusal(method, path, needed(path))).toBe("403 WORKSPACE_LOCKED");
    } finally {
      await lock(false);
    }
  });

  test.each(PATHS)("[CHAT] %s %s responds to any other method with 405 in the chat form", async (method, path) => {
    for (const other of ["PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "FETCH", method === "GET" ? "POST" : "GET"]) {
      const answer = await sendRaw(door.toolgate.baseUrl, { method: other, target: path });
      expect(answer?.status).toBe(405);
      expect(answer && headerValues(answer, "allow")).toEqual([method]);
      if (other !== "HEAD") expect(JSON.parse(answer?.text ?? "").error.code).toBe("METHOD_NOT_ALLOWED");
    }
  });

  test.each<[string, Record<string, unknown>]>([
    ["no message", { message: undefined }],
    ["a blank message", { message: " \n" }],
    ["a long message", { message: "x".repeat(32_001) }],
    ["a message that is not a string", { message: 7 }],
    ["NUL in a message", { message: "a\0b" }],
    ["test_mode as text in JSON", { test_mode: "true" }],
    ["a file in JSON", { file: "abc" }],
    ["a long client_message_id", { client_message_id: "x".repeat(256) }],
    ["an unknown assistant", { assistant: "nobody" }],
    ["a chat_id that is not a string", { chat_id: ["a"] }],
  ])("[CHAT-8] [CHAT-48] POST /chat/index with %s is refused", async (_, more) => {
    const body = { chat_id: "bad", message: "hello", ...more };
    const answer = await door.post("/chat/index", body);
    expect({ status: answer.status, code: (answer.body.error as { code: string })?.code }).toEqual({
      status: 400,
      code: "INVALID_PARAMETERS",
    });
    expect(await door.history("bad")).toEqual([]);
  });

  test("[CHAT-3] [CHAT-48] a body that is not a JSON object is refused", async () => {
    const post = (body: string | Buffer, type: string) =>
      door.toolgate.request("/chat/index", {
        method: "POST",
        headers: { ...door.user.headers, "content-type": type },
        body,
      });
    const json = "application/json";
    for (const body of ["", "{", "[]", '"x"', Buffer.from([0x7b, 0xff, 0x7d]), "x".repeat(600_000)])
      expect((await post(body, json)).status).toBe(400);
    const good = JSON.stringify({ tenant: door.tenant, chat_id: "c", message: "hello" });
    for (const type of ["text/plain", "application/x-www-form-urlencoded", ";;", "multipart/form-data"])
      expect((await post(good, type)).status).toBe(400);
    expect((await post(good, "Application/JSON; charset=utf-8")).status).toBe(200);
  });

  test.each<[string, Query]>([
    ["test_mode=yes", { test_mode: "yes" }],
    ["no message", { message: "" }],
    ["a file", { file: "x" }],
    ["an event id that is not a number", { last_event_id: "x" }],
  ])("[CHAT-9] [CHAT-15] GET /chat/stream with %s is refused before the stream opens", async (_, more) => {
    expect(await refusal("GET", "/chat/stream", { chat_id: "bad", message: "hello", ...more })).toBe(
      "400 INVALID_PARAMETERS",
    );
  });

  test("[CHAT-17] [CHAT-48] resume without since, or with one that is not a timestamp, is refused", async () => {
    for (const since of ["", "yesterday", "12", "2026-02-30T00:00:00Z"])
      expect(await refusal("GET", "/chat/resume", { chat_id: "c", since })).toBe("400 INVALID_PARAMETERS");
    expect(await refusal("GET", "/chat/resume", { chat_id: "c", last_event_id: "1", follow: "x" })).toBe(
      "400 INVALID_PARAMETERS",
    );
    const twice = await door.toolgate.request(`${door.url("/chat/history", { chat_id: "c" })}&chat_id=d`, {
      headers: door.user.headers,
    });
    expect(twice.status).toBe(400);
  });

  test("[CHAT-26] a chat without messages has an empty array of them, and its assistant's greeting and suggestions", async () => {
    const greeted = { greeting: "Hello, I am Tess.", suggestions: ["greet Ada"] };
    const definition = { instructions: "Test.", ...greeted };
    await door.toolgate.manage("chat.v1.AssistantService/SaveAssistant", { name: "tess", definition });
    const history = async (query: Record<string, string>) =>
      (await door.get("/chat/history", { chat_id: "new", ...query })).body;
    expect(await history({ assistant: "tess" })).toEqual({ messages: [], ...greeted });
    expect(await history({ assistant: "tess", limit: "10" })).toEqual({ messages: [], next_before: null, ...greeted });
    expect(await history({ assistant: "nobody" })).toEqual({ messages: [] });
    const defaults = await history({});
    expect(defaults.messages).toEqual([]);
    await door.post("/chat/index", { chat_id: "begun", message: "hello" });
    expect((await door.get("/chat/history", { chat_id: "begun" })).body).not.toHaveProperty("greeting");
  });

  test("[CHAT-25] [CHAT-27] [CHAT-29] history has all messages oldest first, and pages of them when asked", async () => {
    for (const name of ["Ada", "Bob", "Cyd"])
      await door.post("/chat/index", { chat_id: "pages", message: `greet ${name}` });
    const all = await door.history("pages");
    expect(all.map(({ role }) => role).join()).toBe("user,assistant,user,assistant,user,assistant");
    expect(all[0].content).toBe("greet Ada");
    for (const { created } of all) expect(new Date(created).toISOString()).toBe(created);
    const paged: unknown[] = [];
    let before = "";
    do {
      const page = await door.get("/chat/history", { chat_id: "pages", limit: "4", ...(before && { before }) });
      paged.unshift(...(page.body.messages as unknown[]));
      before = page.body.next_before === null ? "" : String(page.body.next_before);
    } while (before !== "");
    expect(paged).toEqual(all);
    for (const limit of ["0", "1001", "x", "-1"])
      expect(await refusal("GET", "/chat/history", { chat_id: "pages", limit })).toBe("400 INVALID_PARAMETERS");
  });
});
