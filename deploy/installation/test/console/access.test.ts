import { request } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

/** A response as it is on the wire: neither redirected nor decompressed. */
async function get(url: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<import("node:http").IncomingMessage>();
  request(url, { headers }, resolve).on("error", reject).end();
  const response = await promise;
  response.resume();
  return { status: response.statusCode ?? 0, headers: response.headers };
}

describe.skipIf(!chromium)("access to the console", () => {
  let rig: ConsoleRig;
  let base: string;

  beforeAll(async () => {
    rig = await startConsole();
    base = rig.toolgate.baseUrl;
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(async () => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  async function cookieOf(user: { email: string; password: string }): Promise<string> {
    const { email, password } = user;
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${base}/session`, {
      method: "POST",
      headers,
      body: JSON.stringify({ email, password }),
    });
    return response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(";", 1)[0])
      .join("; ");
  }

  test("[MGMT-2] [MGMT-3] [MGMT-4] [WMGMT-2] [WMGMT-3] [WMGMT-4] pages are for managers and admins: others get 403 or the login", async () => {
    const manager = await rig.addUser("manager");
    const member = await rig.addUser("member");
    const cookies = {
      admin: await cookieOf(rig.toolgate.account),
      manager: await cookieOf(manager),
      member: await cookieOf(member),
    };
    for (const path of ["/manage/api-keys", "/manage/webhooks", "/manage/webhooks/hooks?open=1", "/manage/runs"]) {
      expect((await get(base + path, { cookie: cookies.admin })).status).toBe(200);
      expect((await get(base + path, { cookie: cookies.manager })).status).toBe(200);
      expect((await get(base + path, { cookie: cookies.member })).status).toBe(403);
      const { status, headers } = await get(base + path);
      expect({ status, to: headers.location }).toEqual({
        status: 303,
        to: `/manage/login?next=${encodeURIComponent(path)}`,
      });
    }
    // Members may read tools and assistants, and chat; of a workspace that is not the user's, nothing.
    for (const [path, status] of [
      ["/manage/tools", 200],
      ["/manage/assistants/assistant?tab=playground", 200],
      ["/manage/chats", 200],
      ["/manage/chats/other", 403],
      ["/manage/models", 403],
      ["/manage/usage", 403],
    ] as const)
      expect([path, (await get(base + path, { cookie: cookies.member })).status]).toEqual([path, status]);
    expect((await get(`${base}/manage/tools?workspace=other`, { cookie: cookies.admin })).status).toBe(403);
    const page = await rig.open("/api-keys", { user: member });
    await page.getByRole("heading", { name: "No access" }).waitFor();
    await page.context().close();
  });

  test("[MGMT] the login leads back to the page that was asked for, and to no other site", async () => {
    const { email, password } = rig.toolgate.account;
    for (const [path, to] of [
      ["/api-keys?status=active", "/manage/api-keys?status=active"],
      ["/login?next=//evil.example/", "/manage/"],
      ["/login?next=https://evil.example/", "/manage/"],
    ] as const) {
      const page = await rig.open(path, { user: null });
      await page.getByLabel("Email").fill(email);
      await page.getByLabel("Password").fill("wrong");
      await page.getByRole("button", { name: "Log in" }).click();
      await page.getByText("Email or password is wrong.").waitFor();
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.waitForURL(base + to);
      await page.context().close();
    }
  });

  test("[MGMT] the console's address leads to the overview, signed in or after the login", async () => {
    const page = await rig.open("/");
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await page.context().clearCookies();
    await page.goto(`${base}/manage/`);
    await page.getByLabel("Email").fill(rig.toolgate.account.email);
    await page.getByLabel("Password").fill(rig.toolgate.account.password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await page.context().close();
  });

  test("[MGMT] a session that ends in the middle of an edit: the user logs in over the form, which is saved once", async () => {
    const { id } = await rig.toolgate.createKey({ name: "Before", tools: [], limit: 5 });
    const page = await rig.open(`/api-keys?open=${id}`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("After");
    await page.context().clearCookies({ name: "toolgate_session" });
    await page.getByRole("button", { name: "Save" }).click();
    const login = page.getByRole("dialog", { name: "Your session has ended" });
    await login.getByLabel("Password").fill(rig.toolgate.account.password);
    await login.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const { entries } = await rig.toolgate.manage<{ entries: { action: string }[] }>(
      "key_auth.v1.AuditService/ListAuditEntries",
      {
        targetId: id,
      },
    );
    expect(entries.map(({ action }) => action)).toEqual(["key.edit", "key.create"]);
    await page.getByRole("complementary", { name: "After" }).waitFor();
    await page.context().close();
  });

  test("[MGMT] after a login in another tab a page goes on as before, and its Log out logs out; another user does not act for the first", async () => {
    const { email, password } = rig.toolgate.account;
    const page = await rig.open("/api-keys");
    await page.getByRole("button", { name: "Create key" }).first().click();
    await page.getByRole("dialog").getByLabel("Name").fill("Two tabs");
    const logIn = (user: { email: string; password: string }) =>
      page.context().request.post(`${base}/session`, { data: { email: user.email, password: user.password } });
    await logIn({ email, password });
    const create = page.getByRole("dialog").getByRole("button", { name: "Create key" });
    // Nothing that was entered is lost while the session cannot be read.
    await page.route(`${base}/session`, (route) => route.fulfill({ status: 503 }));
    await create.click();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    expect(await page.getByRole("dialog").getByLabel("Name").inputValue()).toBe("Two tabs");
    await page.unroute(`${base}/session`);
    await create.click();
    await page.getByRole("dialog", { name: "Key created" }).waitFor();
    await page.getByLabel("I have stored it").check();
    await page.getByRole("button", { name: "Done" }).click();
    await logIn({ email, password });
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in to Toolgate" }).waitFor();
    expect((await page.context().request.get(`${base}/session`)).status()).toBe(401);
    await page.context().close();

    const other = await rig.open("/api-keys");
    await other.getByRole("row", { name: /After/ }).waitFor();
    await other.context().clearCookies({ name: "toolgate_session" });
    await other.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    expect(await other.getByLabel("Email").getAttribute("readonly")).not.toBeNull();
    await other.context().close();
  });

  test("[MGMT] pages carry a strict policy and are not stored; their files are kept for ever and come compressed", async () => {
    const { headers } = await get(`${base}/manage/login`);
    const policy = String(headers["content-security-policy"]);
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "require-trusted-types-for 'script'",
      "frame-ancestors 'none'",
    ]) {
      expect(policy.split("; ")).toContain(part);
    }
    expect(headers["cache-control"]).toBe("no-store");
    const html = await (await fetch(`${base}/manage/login`)).text();
    const script = /src="(\/manage\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? "";
    const file = await get(base + script, { "accept-encoding": "gzip, br" });
    expect(file).toMatchObject({
      status: 200,
      headers: {
        "cache-control": "public, max-age=31536000, immutable",
        "content-encoding": "br",
        "x-content-type-options": "nosniff",
      },
    });
    expect((await get(base + script)).headers["content-encoding"]).toBeUndefined();
    expect((await get(`${base}/manage/assets/none.js`)).status).toBe(404);
    expect((await get(`${base}/manage/assets/..%2findex.html`)).status).toBe(404);
  });
});
