import { request } from "node:http";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeConsole } from "./console-rig.ts";

/** A response as it is on the wire: neither redirected nor decompressed. */
async function get(url: string, headers: Record<string, string> = {}) {
  const { promise, resolve, reject } = Promise.withResolvers<import("node:http").IncomingMessage>();
  request(url, { headers }, resolve).on("error", reject).end();
  const response = await promise;
  response.resume();
  return { status: response.statusCode ?? 0, headers: response.headers };
}

describeConsole("access to the console", (rig) => {
  const at = (path: string) => `${rig.toolgate.baseUrl}${path}`;

  test("[MGMT-2] [MGMT-3] [MGMT-4] [WMGMT-2] [WMGMT-3] [WMGMT-4] pages are for managers and admins: others get 403 or the login", async () => {
    const member = await rig.open("/api-keys", { user: await rig.addUser("member") });
    await member.getByRole("heading", { name: "No access" }).waitFor();
    const manager = await rig.open("/api-keys", { user: await rig.addUser("manager") });
    const admin = await rig.open("/api-keys");
    const statusFor = async (page: Page, path: string) =>
      (await page.context().request.get(at(path), { maxRedirects: 0 })).status();
    const statuses = (path: string) => Promise.all([admin, manager, member].map((page) => statusFor(page, path)));
    for (const path of ["/manage/api-keys", "/manage/webhooks", "/manage/webhooks/hooks?open=1", "/manage/runs"]) {
      expect([path, await statuses(path)]).toEqual([path, [200, 200, 403]]);
      const { status, headers } = await get(at(path));
      expect([status, headers.location]).toEqual([303, `/manage/login?next=${encodeURIComponent(path)}`]);
    }
    // Members may read tools and assistants, and chat; of a workspace that is not the user's, nothing.
    for (const [path, ofMember, ofAdmin = 200] of [
      ["/manage/tools", 200],
      ["/manage/assistants/assistant?tab=playground", 200],
      ["/manage/chats", 200],
      ["/manage/chats/other", 403],
      ["/manage/models", 403],
      ["/manage/usage", 403],
      ["/manage/tools?workspace=other", 403, 403],
    ] as const) {
      expect([path, await statuses(path)]).toEqual([path, [ofAdmin, ofAdmin, ofMember]]);
    }
  });

  test("[MGMT] the login leads back to the page that was asked for, otherwise to the overview, and to no other site", async () => {
    const { email, password } = rig.toolgate.account;
    for (const [path, to] of [
      ["/api-keys?status=active", "/manage/api-keys?status=active"],
      ["/", "/manage/"],
      ["/login?next=//evil.example/", "/manage/"],
    ] as const) {
      const page = await rig.open(path, { user: null });
      await page.getByLabel("Email").fill(email);
      await page.getByLabel("Password").fill(password);
      await page.getByRole("button", { name: "Log in" }).click();
      await page.waitForURL(at(to));
      await page.getByRole("heading", { name: to === "/manage/" ? "Overview" : "API keys", level: 1 }).waitFor();
    }
  });

  test("[MGMT] a session that ends in the middle of an edit: the user logs in over the form, which is saved once", async () => {
    const { id } = await rig.toolgate.createKey({ name: "Before", tools: [], limit: 5 });
    const page = await rig.open(`/api-keys?open=${id}`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("After");
    await page.context().clearCookies({ name: "toolgate_session" });
    const loggedIn = Promise.withResolvers<void>();
    // The refusal of a call that was sent before the login, but comes after it.
    await page.route(/ListKeys$/, async (route) => {
      const response = await route.fetch();
      if (response.status() === 401) await loggedIn.promise;
      await route.fulfill({ response });
    });
    await page.getByRole("button", { name: "Save" }).click();
    const login = page.getByRole("dialog", { name: "Your session has ended" });
    // Another user does not act for the first.
    expect(await login.getByLabel("Email").getAttribute("readonly")).not.toBeNull();
    await Promise.all([
      page.waitForRequest(/ListKeys$/),
      page.evaluate('dispatchEvent(new Event("visibilitychange"))'),
    ]);
    await login.getByLabel("Password").fill("wrong");
    await login.getByRole("button", { name: "Log in" }).click();
    await login.getByText("Email or password is wrong.").waitFor();
    await login.getByLabel("Password").fill(rig.toolgate.account.password);
    await login.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const again = page.waitForResponse((response) => /ListKeys$/.test(response.url()) && response.ok());
    loggedIn.resolve();
    await again;
    expect(await page.getByRole("dialog").count()).toBe(0);
    const { entries } = await rig.toolgate.manage<{ entries: { action: string }[] }>(
      "key_auth.v1.AuditService/ListAuditEntries",
      { targetId: id },
    );
    expect(entries.map(({ action }) => action)).toEqual(["key.edit", "key.create"]);
    await page.getByRole("complementary", { name: "After" }).waitFor();
  });

  test("[MGMT] after a login in another tab a page goes on as before, and its Log out logs out", async () => {
    const { email, password } = rig.toolgate.account;
    const page = await rig.open("/api-keys");
    await page.getByRole("button", { name: "Create key" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Two tabs");
    await dialog.getByText("No tool is released yet").waitFor();
    const logIn = () => page.context().request.post(at("/session"), { data: { email, password } });
    await logIn();
    const create = dialog.getByRole("button", { name: "Create key" });
    // Nothing that was entered is lost while the session cannot be read.
    await page.route(at("/session"), (route) => route.fulfill({ status: 503 }));
    await create.click();
    await dialog.getByRole("alert").waitFor();
    expect(await dialog.getByLabel("Name").inputValue()).toBe("Two tabs");
    await page.unroute(at("/session"));
    await create.click();
    await page.getByRole("dialog", { name: "Key created" }).waitFor();
    await page.getByLabel("I have stored it").check();
    await page.getByRole("button", { name: "Done" }).click();
    await logIn();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "Log in to Toolgate" }).waitFor();
    expect((await page.context().request.get(at("/session"))).status()).toBe(401);
  });

  test("[MGMT] pages carry a strict policy and are not stored; their files are kept for ever and come compressed", async () => {
    for (const path of ["/manage/login", "/manage/reference?tool=x"]) {
      const { status, headers } = await get(at(path));
      expect([status, headers["cache-control"]]).toEqual([200, "no-store"]);
      expect(String(headers["content-security-policy"]).split("; ")).toEqual(
        expect.arrayContaining([
          "default-src 'none'",
          "script-src 'self'",
          "style-src 'self'",
          "require-trusted-types-for 'script'",
          "frame-ancestors 'none'",
        ]),
      );
    }
    const html = await (await fetch(at("/manage/login"))).text();
    const script = /src="(\/manage\/assets\/[^"]+\.js)"/.exec(html)?.[1] ?? "";
    const file = await get(at(script), { "accept-encoding": "gzip, br" });
    expect(file).toMatchObject({
      status: 200,
      headers: {
        "cache-control": "public, max-age=31536000, immutable",
        "content-encoding": "br",
        "x-content-type-options": "nosniff",
      },
    });
    expect((await get(at(script))).headers["content-encoding"]).toBeUndefined();
    expect((await get(at("/manage/assets/none.js"))).status).toBe(404);
    expect((await get(at("/manage/assets/..%2findex.html"))).status).toBe(404);
  });
});
