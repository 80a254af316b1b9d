import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "./accessibility.ts";
import { type ConsoleRig, chromium, startConsole } from "./console-rig.ts";

if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

const PASSWORD = "a good password";

describe.skipIf(!chromium)("members of a workspace, in the console", () => {
  let rig: ConsoleRig;
  /** What the server has logged. */
  const logged: string[] = [];
  /** Links that must be found nowhere. */
  const tokens: string[] = [];

  beforeAll(async () => {
    rig = await startConsole({ ownProcess: true, log: (line) => logged.push(line), env: { LOG_LEVEL: "debug" } });
  });
  afterAll(() => rig?.[Symbol.asyncDispose]());
  afterEach(() => {
    expect(rig.problems.splice(0)).toEqual([]);
  });

  const dialogOf = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name });

  /** The link in the dialog that is open, which then closes. */
  async function takeLink(page: Page): Promise<string> {
    const dialog = dialogOf(page, "Send this link to the person");
    const link = await dialog.getByLabel("Link").inputValue();
    await expectAccessible(page);
    await dialog.getByLabel("I have stored it").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(new URL(link).hash.slice(1));
    tokens.push(new URL(link).hash.slice(1));
    return link;
  }

  /** A browser of somebody who is not signed in, at a link. It tells the addresses of all its requests. */
  async function openLink(link: string) {
    const page = await rig.open("/login", { user: null });
    const sent: string[] = [];
    page.on("request", async (request) => {
      sent.push(request.url(), JSON.stringify(await request.allHeaders().catch(() => ({}))));
    });
    await page.goto(link);
    return { page, sent };
  }

  async function invite(admin: Page, email: string, role: string): Promise<string> {
    await admin.getByRole("button", { name: "Invite" }).click();
    const dialog = dialogOf(admin, "Invite somebody");
    await dialog.getByLabel("Email").fill(email);
    await dialog.getByLabel("Role").selectOption(role);
    await dialog.getByRole("button", { name: "Create link" }).click();
    return takeLink(admin);
  }

  async function choosePassword(page: Page, button: string): Promise<void> {
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByLabel("The same again").fill(PASSWORD);
    await page.getByRole("button", { name: button }).click();
  }

  test("[MGMT-2] [MGMT-3] [MGMT-4] an admin invites somebody, who joins; changes their role; and removes them, who are at the login with the next click", async () => {
    const email = "grace@example.test";
    const admin = await rig.open("/members");
    await admin.getByRole("row", { name: rig.toolgate.account.email }).waitFor();
    await admin.keyboard.press("c");
    await dialogOf(admin, "Invite somebody").getByLabel("Email").fill("nobody");
    await admin.getByRole("button", { name: "Create link" }).click();
    await admin.getByText("must be an email address").waitFor();
    await expectAccessible(admin);
    await admin.getByRole("button", { name: "Cancel" }).click();
    const link = await invite(admin, email, "Manager");
    const invitation = admin.getByRole("region", { name: "Invitations" });
    await invitation.getByRole("row", { name: /grace@example\.test Manager/ }).waitFor();
    await expectAccessible(admin);

    const { page: grace, sent } = await openLink(link);
    await grace.getByText("grace@example.test is invited as Manager.").waitFor();
    await expectAccessible(grace);
    await grace.setViewportSize({ width: 360, height: 740 });
    await expectToFit(grace);
    await grace.setViewportSize({ width: 1280, height: 800 });
    await grace.getByLabel("New password").fill("short");
    await grace.getByRole("button", { name: "Accept" }).click();
    await grace.getByText("Use at least 8 characters.").waitFor();
    await grace.getByLabel("New password").fill(PASSWORD);
    await grace.getByRole("button", { name: "Accept" }).click();
    await grace.getByText("The two are not the same.").waitFor();
    await choosePassword(grace, "Accept");
    await grace.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    await grace.getByRole("navigation").getByRole("link", { name: "API keys" }).click();
    await grace.getByRole("heading", { name: "API keys", level: 1 }).waitFor();
    await grace.goBack();
    expect(grace.url()).not.toContain("#");
    expect(sent.join("\n")).not.toContain(tokens.at(-1));

    await invitation.waitFor({ state: "detached" });
    await admin.getByRole("row", { name: /grace@example\.test Manager/ }).click();
    const panel = admin.getByRole("complementary", { name: email });
    await expectAccessible(admin);
    await panel.getByRole("button", { name: "Change role" }).click();
    await admin.getByLabel("Role", { exact: true }).selectOption("Member");
    await admin.getByRole("button", { name: "Save" }).click();
    await panel.getByText("Member", { exact: true }).waitFor();
    await grace.goto(`${rig.toolgate.baseUrl}/manage/api-keys`);
    await grace.getByRole("heading", { name: "No access" }).waitFor();

    await grace.goto(`${rig.toolgate.baseUrl}/manage/tools`);
    await grace.getByRole("heading", { name: "Tools", level: 1 }).waitFor();
    await panel.getByRole("button", { name: "Remove" }).click();
    await dialogOf(admin, `Remove ${email}?`).getByRole("button", { name: "Remove" }).click();
    await admin.getByRole("row", { name: email }).waitFor({ state: "detached" });
    await grace.reload();
    await grace.getByRole("heading", { name: "Log in to Toolgate" }).waitFor();
    await Promise.all([admin, grace].map((page) => page.context().close()));
  });

  test("[MGMT-4] a link works once, and not after it was withdrawn; the last admin stays, and makes no password link for themselves", async () => {
    const admin = await rig.open("/members");
    const used = await invite(admin, "ada@example.test", "Member");
    const { page: ada } = await openLink(used);
    await choosePassword(ada, "Accept");
    await ada.getByRole("heading", { name: "Tools", level: 1 }).waitFor();
    const withdrawn = await invite(admin, "alan@example.test", "Admin");
    await admin.getByRole("button", { name: "Withdraw alan@example.test" }).click();
    await dialogOf(admin, "Withdraw alan@example.test?").getByRole("button", { name: "Withdraw" }).click();
    await admin.getByRole("region", { name: "Invitations" }).waitFor({ state: "detached" });
    for (const link of [used, withdrawn, `${rig.toolgate.baseUrl}/manage/join#made-up`]) {
      const { page } = await openLink(link);
      await page.getByText("This link is no longer valid").waitFor();
      await expectAccessible(page);
      await page.context().close();
    }
    const { email } = rig.toolgate.account;
    await admin.getByRole("row", { name: email }).click();
    await admin.getByRole("button", { name: "Remove" }).click();
    await dialogOf(admin, `Remove ${email}?`).getByRole("button", { name: "Remove" }).click();
    await admin.getByText("is the only admin: make another member admin first").waitFor();
    await admin.getByRole("button", { name: "Cancel" }).click();
    await admin.getByRole("button", { name: "Change role" }).waitFor();
    expect(await admin.getByRole("button", { name: "Reset password" }).count()).toBe(0);
    await Promise.all([admin, ada].map((page) => page.context().close()));
  });

  test("[MGMT-4] an admin ends a member's sessions and resets the password by a link", async () => {
    const user = await rig.addUser("manager");
    const manager = await rig.open("/tools", { user });
    const admin = await rig.open("/members");
    await admin.getByRole("searchbox").fill(user.email);
    await admin.getByRole("row", { name: user.email }).click();
    await admin.getByRole("button", { name: "End sessions" }).click();
    await dialogOf(admin, /End all sessions/)
      .getByRole("button", { name: "End sessions" })
      .click();
    await manager.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    await admin.getByRole("button", { name: "Reset password" }).click();
    await dialogOf(admin, /Reset password/)
      .getByRole("button", { name: "Create link" })
      .click();
    const link = await takeLink(admin);
    const { page, sent } = await openLink(link);
    await page.getByText("logged out everywhere else").waitFor();
    await expectAccessible(page);
    await choosePassword(page, "Save");
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    expect(sent.join("\n")).not.toContain(tokens.at(-1));
    await manager.getByLabel("Password").fill(PASSWORD);
    await manager.getByRole("button", { name: "Log in" }).click();
    await manager.getByRole("dialog").waitFor({ state: "detached" });
    await Promise.all([admin, page, manager].map((each) => each.context().close()));
  });

  test("[MGMT-4] managers see neither members nor invitations", async () => {
    const page = await rig.open("/members", { user: await rig.addUser("manager") });
    await page.getByText("Only admins of the workspace can see and manage its members.").waitFor();
    await expectAccessible(page);
    await page.context().close();
  });

  test("[MGMT-4] no link was ever logged, and what was done is in the audit log", async () => {
    expect(tokens).toHaveLength(4);
    expect(logged.join("\n")).toContain('"msg":"started"');
    const { rows } = await rig.toolgate.pool.query("select e::text as entry from key_auth.audit_entries e");
    const kept = [...logged, ...rows.map(({ entry }) => entry)].join("\n");
    for (const token of tokens) expect(kept).not.toContain(token);
    const page = await rig.open("/audit");
    for (const said of [
      "Invited grace@",
      "Accepted the invitation",
      "Removed the role of grace@",
      "Made a password link",
    ])
      await page.getByRole("row", { name: said }).first().waitFor();
    await page.context().close();
  });
});
