import { createPublicKey, type JsonWebKey, randomUUID, verify } from "node:crypto";
import { provision } from "@toolgate/key-auth/operator/provision";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type CallResponse, type RunningToolgate, runToolgate } from "./running-toolgate.ts";

let toolgate: RunningToolgate;
beforeAll(async () => {
  toolgate = await runToolgate("single");
});
afterAll(() => toolgate[Symbol.asyncDispose]());

const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  toolgate.request(path, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
const cookieOf = ({ headers }: CallResponse) => (headers.get("set-cookie") ?? "").split(";")[0] ?? "";
const logIn = async () => {
  const { email, password } = toolgate.account;
  const response = await send("POST", "/session", { email, password });
  return { response, cookie: cookieOf(response), csrf: String(response.body.csrf_token) };
};
const listKeys = (headers: Record<string, string>) =>
  send("POST", "/toolgate.key_auth.v1.KeyService/ListKeys", { workspace: toolgate.account.workspace }, headers);

test("[MGMT] a login sets a cookie that scripts and other sites cannot use, and says what it opens", async () => {
  const { response } = await logIn();
  expect(response.status).toBe(200);
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^toolgate_session=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/),
    expect.stringMatching(/^toolgate_device=[\w-]{72}; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Strict$/),
  ]);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.body).toMatchObject({
    success: true,
    email: toolgate.account.email,
    memberships: [{ workspace: toolgate.account.workspace, role: "admin" }],
  });
  expect(response.text).not.toContain(cookieOf(response).split("=")[1]);
});

test("[MGMT] [WMGMT] a management call by cookie needs the CSRF token of its session", async () => {
  const { cookie, csrf } = await logIn();
  const other = await logIn();
  expect((await listKeys({ cookie, "x-csrf-token": csrf })).status).toBe(200);
  expect((await listKeys({ cookie })).status).toBe(403);
  expect((await listKeys({ cookie, "x-csrf-token": "" })).status).toBe(403);
  expect((await listKeys({ cookie, "x-csrf-token": other.csrf })).status).toBe(403);
  expect((await listKeys({ "x-csrf-token": csrf })).status).toBe(401);
  expect((await listKeys({ cookie: "toolgate_session=made-up", "x-csrf-token": csrf })).status).toBe(403);
});

test("[MGMT] a page that is reloaded gets its CSRF token again, only with the cookie", async () => {
  const { cookie, csrf } = await logIn();
  const shown = await send("GET", "/session", undefined, { cookie });
  expect(shown.body).toMatchObject({ email: toolgate.account.email, csrf_token: csrf });
  expect(shown.headers.get("cache-control")).toBe("no-store");
  expect((await send("GET", "/session")).status).toBe(401);
  expect((await send("GET", "/session", undefined, { cookie: "toolgate_session=made-up" })).status).toBe(401);
});

test("[MGMT] logout ends the session immediately and clears the cookie; it needs the CSRF token too", async () => {
  const { cookie, csrf } = await logIn();
  expect((await send("DELETE", "/session", undefined, { cookie })).status).toBe(403);
  expect((await listKeys({ cookie, "x-csrf-token": csrf })).status).toBe(200);
  const ended = await send("DELETE", "/session", undefined, { cookie, "x-csrf-token": csrf });
  expect(ended.status).toBe(200);
  expect(ended.headers.get("set-cookie")).toMatch(/^toolgate_session=; Max-Age=0; /);
  expect((await listKeys({ cookie, "x-csrf-token": csrf })).status).toBe(401);
  expect((await send("GET", "/session", undefined, { cookie })).status).toBe(401);
});

test("[MGMT] only JSON with the right password signs in, and every other login gets the same refusal", async () => {
  const { email, password } = toolgate.account;
  const form = await toolgate.request("/session", {
    method: "POST",
    body: new URLSearchParams({ email, password }),
  });
  const text = await toolgate.request("/session", { method: "POST", body: JSON.stringify({ email, password }) });
  for (const response of [form, text, await send("POST", "/session", { email })]) {
    expect(response.status).toBe(400);
    expect(response.headers.get("set-cookie")).toBeNull();
  }
  for (const text of ["\u0000", "a\u0000b"]) {
    expect((await send("POST", "/session", { email: text, password })).status).toBe(400);
    expect((await send("POST", "/session", { email, password: text })).status).toBe(400);
  }
  const wrong = await send("POST", "/session", { email, password: "wrong" });
  const unknown = await send("POST", "/session", { email: "nobody@example.test", password });
  expect(wrong).toMatchObject({ status: 401, text: '{"success":false,"error":"E-Mail oder Passwort falsch"}' });
  expect(unknown).toMatchObject({ status: 401, text: wrong.text });
});

test("[MGMT] a bearer token works without a CSRF token: the opaque one and the JWT, which the key set verifies", async () => {
  const { email, password } = toolgate.account;
  for (const tokenKind of ["TOKEN_KIND_SESSION", "TOKEN_KIND_JWT"]) {
    const credentials = { email, password, tokenKind };
    const { body } = await send("POST", "/toolgate.key_auth.v1.SessionService/Login", credentials);
    expect(body).toMatchObject({ token: expect.any(String) });
    const token = String(body.token);
    expect((await listKeys({ authorization: `Bearer ${token}` })).status).toBe(200);
    if (tokenKind === "TOKEN_KIND_JWT") await verifyJwt(token);
  }
});

async function verifyJwt(token: string): Promise<void> {
  const response = await toolgate.request("/.well-known/jwks.json");
  expect(response.status).toBe(200);
  expect(response.headers.get("cache-control")).toMatch(/^public, max-age=\d+$/);
  const { keys } = JSON.parse(response.text) as { keys: (JsonWebKey & { kid: string })[] };
  const [header = "", payload = "", signature = ""] = token.split(".");
  const { alg, kid } = JSON.parse(Buffer.from(header, "base64url").toString("utf8"));
  expect(alg).toBe("EdDSA");
  const jwk = keys.find((key) => key.kid === kid);
  expect(jwk).toMatchObject({ kty: "OKP", crv: "Ed25519" });
  expect(response.text).not.toContain('"d"');
  const key = createPublicKey({ key: jwk as never, format: "jwk" });
  expect(verify(null, Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, "base64url"))).toBe(true);
}

test("[MGMT] a changed password ends the user's other sessions; this one continues", async () => {
  const [here, elsewhere] = [await logIn(), await logIn()];
  const change = (headers: Record<string, string>, current: string, next: string) =>
    send("POST", "/session/password", { current_password: current, new_password: next }, headers);
  const { password } = toolgate.account;
  const mine = { cookie: here.cookie, "x-csrf-token": here.csrf };
  expect((await change({}, password, "another password")).status).toBe(401);
  expect((await change({ cookie: here.cookie }, password, "another password")).status).toBe(403);
  expect((await change(mine, "wrong", "another password")).status).toBe(401);
  expect((await change(mine, password, "short")).status).toBe(400);
  expect((await change(mine, password, "another password")).status).toBe(200);
  expect((await listKeys(mine)).status).toBe(200);
  expect((await listKeys({ cookie: elsewhere.cookie, "x-csrf-token": elsewhere.csrf })).status).toBe(401);
  expect((await change(mine, "another password", password)).status).toBe(200);
});

test("[MGMT] a page lists the user's sessions by browser and ends others, with the CSRF token", async () => {
  const { email, password } = toolgate.account;
  const browser = { "user-agent": "Firefox" };
  const [here, elsewhere] = [
    await send("POST", "/session", { email, password }, browser),
    await send("POST", "/session", { email, password }, browser),
  ];
  const mine = { cookie: cookieOf(here), "x-csrf-token": String(here.body.csrf_token) };
  const list = async (headers: Record<string, string>) => {
    const { status, body } = await send("GET", "/sessions", undefined, headers);
    return { status, sessions: body.sessions as Record<string, unknown>[] };
  };
  const { sessions } = await list({ cookie: mine.cookie });
  expect(sessions.slice(0, 2)).toMatchObject([
    { device: "Firefox", kind: "session", address: "127.0.0.0", is_current: false },
    { device: "Firefox", kind: "session", address: "127.0.0.0", is_current: true },
  ]);
  const end = async (path: string, headers: Record<string, string>) =>
    (await send("DELETE", path, undefined, headers)).status;
  const other = `/sessions/${sessions[0]?.id}`;
  expect((await list({})).status).toBe(401);
  expect(await end(other, {})).toBe(401);
  expect(await end(other, { cookie: mine.cookie })).toBe(403);
  expect(await end(`/sessions/${randomUUID()}`, mine)).toBe(404);
  expect(await end(other, mine)).toBe(200);
  expect((await list({ cookie: cookieOf(elsewhere) })).status).toBe(401);
  expect(await end("/sessions", mine)).toBe(200);
  expect((await list({ cookie: mine.cookie })).sessions).toHaveLength(1);
});

test("[MGMT] a network that guessed is locked out, and told when to try again, for cookies and for tokens", async () => {
  const MAX_FAILURES = 10;
  const user = { email: `${randomUUID()}@example.test`, password: "a password" };
  await provision(toolgate.pool, { ...user, workspace: toolgate.account.workspace, role: "member" });
  const device = /toolgate_device=[^;]+/.exec(String((await send("POST", "/session", user)).headers.getSetCookie()));
  for (let failure = 0; failure < MAX_FAILURES; failure += 1)
    expect((await send("POST", "/session", { ...user, password: "a guess" })).status).toBe(401);
  const byCookie = await send("POST", "/session", user);
  const byToken = await send("POST", "/toolgate.key_auth.v1.SessionService/Login", user);
  for (const { status, headers } of [byCookie, byToken]) {
    expect([status, headers.get("retry-after")]).toEqual([429, expect.stringMatching(/^\d+$/)]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(800);
    expect(Number(headers.get("retry-after"))).toBeLessThanOrEqual(900);
  }
  expect(byCookie.text).toBe('{"success":false,"error":"Zu viele Anmeldeversuche"}');
  expect((await send("POST", "/session", user, { cookie: device?.[0] ?? "" })).status).toBe(200);
});
