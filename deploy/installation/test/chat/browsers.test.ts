import { once } from "node:events";
import { get } from "node:http";
import { ChatService } from "@toolgate/gen/toolgate/chat/v1/chat_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallResponse } from "../running-toolgate.ts";
import { type ChatFrontDoor, openChat } from "./front-door.ts";

const SITE = "https://www.example.com";

describe("chats from browsers", () => {
  let door: ChatFrontDoor;
  let cookie: string;
  let csrf: string;
  beforeAll(async () => {
    door = await openChat("single");
    const { email, password } = door.toolgate.account;
    const signedIn = await door.toolgate.request("/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
    cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    csrf = String(signedIn.body.csrf_token);
  });
  afterAll(() => door[Symbol.asyncDispose]());

  const outcome = ({ status, body }: CallResponse) =>
    `${status} ${(body.error as { code: string } | undefined)?.code ?? ""}`.trim();
  const message = { chat_id: "browser", message: "hello" };

  test("[CHAT-33] the session cookie needs the CSRF token on POST, and none to read", async () => {
    expect(outcome(await door.post("/chat/index", message, { cookie, "x-csrf-token": csrf }))).toBe("200");
    for (const path of ["/chat/index", "/chat/reset", "/chat/stop"]) {
      expect(outcome(await door.post(path, message, { cookie }))).toBe("403 FORBIDDEN");
      expect(outcome(await door.post(path, message, { cookie, "x-csrf-token": "x" }))).toBe("403 FORBIDDEN");
      expect(outcome(await door.post(path, { message: "x" }, { cookie }))).toBe("400 INVALID_PARAMETERS");
      expect(outcome(await door.post(path, message, { cookie: "toolgate_session=made-up" }))).toBe(
        "401 UNAUTHENTICATED",
      );
    }
    expect(outcome(await door.get("/chat/history", { chat_id: "browser" }, { cookie }))).toBe("200");
    expect(outcome(await door.get("/chat/resume", { chat_id: "browser", last_event_id: "0" }, { cookie }))).toBe("200");
    expect(await door.history("browser")).toHaveLength(2);
  });

  test("[CHAT-33] a stream by cookie must come from a script of this server's pages", async () => {
    const own = door.toolgate.baseUrl;
    const streamed = (headers: Record<string, string>) =>
      door.get("/chat/stream", { chat_id: "own-page", message: "hello" }, { cookie, ...headers });
    const foreign: Record<string, string>[] = [
      {},
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "none" },
      { "sec-fetch-site": "cross-site", referer: `${own}/page` },
      { referer: `${SITE}/page` },
      { referer: `${own}.example.com/page` },
      { origin: SITE, referer: `${own}/page` },
      { "x-csrf-token": "x" },
    ];
    for (const headers of foreign) expect(outcome(await streamed(headers))).toBe("403 FORBIDDEN");
    // A clicked link. `fetch` does not let its mode be set.
    const clicked = get(`${own}/chat/stream?tenant=${door.toolgate.account.workspace}&chat_id=own-page&message=hello`, {
      headers: { cookie, "sec-fetch-site": "same-origin", "sec-fetch-mode": "navigate" },
    });
    const [response] = await once(clicked, "response");
    expect(response.resume().statusCode).toBe(403);
    expect(await door.history("own-page")).toEqual([]);
    for (const headers of [{ "sec-fetch-site": "same-origin" }, { referer: `${own}/page` }, { "x-csrf-token": csrf }])
      expect((await streamed(headers as Record<string, string>)).status).toBe(200);
  });

  test("[CHAT-34] [CHAT-35] a JWT of the login needs no proof, and decides when there is a cookie too", async () => {
    const { authorization } = door.user.headers;
    expect(
      outcome(await door.post("/chat/index", message, { authorization, cookie: "toolgate_session=made-up" })),
    ).toBe("200");
    expect(outcome(await door.get("/chat/stream", message, { authorization, "sec-fetch-site": "cross-site" }))).toBe(
      "200",
    );
    const both = { authorization: "Bearer made-up", cookie, "x-csrf-token": csrf };
    expect(outcome(await door.post("/chat/index", message, both))).toBe("401 UNAUTHENTICATED");
  });

  test("[CHAT] other sites get no CORS headers unless the workspace allows them, and then only for chats", async () => {
    const preflight = (path: string, origin: string) =>
      door.toolgate.request(path, {
        method: "OPTIONS",
        headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization" },
      });
    const allowed = ({ headers }: CallResponse) => headers.get("access-control-allow-origin");
    const before = await preflight("/chat/index", "https://never.example.com");
    expect({ status: before.status, origin: allowed(before) }).toEqual({ status: 405, origin: null });
    const closed = await door.post("/chat/index", message, {
      ...door.user.headers,
      origin: "https://never.example.com",
    });
    expect({ status: closed.status, origin: allowed(closed) }).toEqual({ status: 200, origin: null });

    await door.toolgate.manage("chat.v1.AssistantService/UpdateChatSettings", { allowedOrigins: { origins: [SITE] } });
    const asked = await preflight("/chat/index", SITE);
    expect({ status: asked.status, origin: allowed(asked) }).toEqual({ status: 204, origin: SITE });
    expect(asked.headers.get("access-control-allow-methods")).toBe("POST");
    expect(asked.headers.get("access-control-allow-headers")).toContain("authorization");
    expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
    // The gateway may have remembered for a few seconds that the origin was not allowed.
    const send = () => door.post("/chat/index", message, { ...door.user.headers, origin: SITE });
    await eventually(async () => expect(allowed(await send())).toBe(SITE));
    const sent = await send();
    expect({ origin: allowed(sent), vary: sent.headers.get("vary") }).toEqual({ origin: SITE, vary: "origin" });
    // A page must be able to read why it was refused.
    expect(allowed(await door.post("/chat/index", message, { origin: SITE }))).toBe(SITE);
    const stream = await door.stream({ chat_id: "cors", message: "hello" }, { ...door.user.headers, origin: SITE });
    expect(stream.headers.get("access-control-allow-origin")).toBe(SITE);
    stream.cut();
    expect(allowed(await preflight("/chat/index", "https://www.example.org"))).toBeNull();
    for (const path of ["/session", "/api/v1/tools/greet", "/toolgate.chat.v1.AssistantService/ListAssistants"])
      expect(allowed(await preflight(path, SITE))).toBeNull();
  });

  test("[CHAT] the management API does not offer chats past their own rules", async () => {
    for (const { name } of ChatService.methods) {
      const answer = await door.toolgate.request(`/toolgate.chat.v1.ChatService/${name}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...door.user.headers },
        body: "{}",
      });
      expect(answer.status).toBe(404);
    }
  });
});
