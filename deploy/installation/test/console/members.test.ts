import type { Page, Request } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, expectToFit } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

const PASSWORD = "a good password";

describeConsole("members of a workspace, in the console", (rig) => {
  const dialogOf = (page: Page, name: string | RegExp) => page.getByRole("dialog", { name });
  /** Not of those whose address ends with this one. */
  const rowOf = (page: Page, email: string) => page.getByRole("row", { name: new RegExp(`(^|\\s)${email}`) });
  const tokenOf = (link: string) => new URL(link).hash.slice(1);
  /** Nobody in another workspace of this installation has it. */
  const emailOf = (name: string) => `${name}-${rig.toolgate.account.email}`;

  /** The link in the dialog that is open, which then closes. */
  async function takeLink(page: Page): Promise<string> {
    const dialog = dialogOf(page, "Send this link to the person");
    const link = await dialog.getByLabel("Link").inputValue();
    await dialog.getByLabel("I have stored it").check();
    await dialog.getByRole("button", { name: "Done" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(tokenOf(link));
    return link;
  }

  /** A browser of somebody who is not signed in, at a link. `sent` has the addresses and headers of all its requests. */
  async function openLink(link: string) {
    const sent: string[] = [];
    const keep = async (request: Request) => {
      sent.push(request.url(), JSON.stringify(await request.allHeaders().catch(() => ({}))));
    };
    const path = link.slice(`${rig.toolgate.baseUrl}/manage`.length);
    const page = await rig.open(path, { user: null, prepare: (prepared) => prepared.on("request", keep) });
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
    const email = emailOf("grace");
    const admin = await rig.open("/members");
    await rowOf(admin, rig.toolgate.account.email).waitFor();
    await admin.keyboard.press("c");
    await dialogOf(admin, "Invite somebody").getByLabel("Email").fill("nobody");
    await admin.getByRole("button", { name: "Create link" }).click();
    await admin.getByText("must be an email address").waitFor();
    await admin.getByRole("button", { name: "Cancel" }).click();
    const link = await invite(admin, email, "Manager");
    const invitation = admin.getByRole("region", { name: "Invitations" });
    await invitation.getByRole("row", { name: `${email} Manager` }).waitFor();
    await expectAccessible(admin);

    const { page: grace, sent } = await openLink(link);
    await grace.getByText(`${email} is invited as Manager.`).waitFor();
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
    expect(grace.url()).not.toContain("#");
    expect(sent.join("\n")).not.toContain(tokenOf(link));

    await invitation.waitFor({ state: "detached" });
    await admin.getByRole("row", { name: `${email} Manager` }).click();
    const panel = admin.getByRole("complementary", { name: email });
    await panel.getByRole("button", { name: "Change role" }).click();
    await admin.getByLabel("Role", { exact: true }).selectOption("Member");
    await admin.getByRole("button", { name: "Save" }).click();
    await panel.getByText("Member", { exact: true }).waitFor();
    await grace.goto(`${rig.toolgate.baseUrl}/manage/api-keys`);
    await grace.getByRole("heading", { name: "No access" }).waitFor();

    await panel.getByRole("button", { name: "Remove" }).click();
    const question = dialogOf(admin, `Remove ${email}?`);
    await question.getByRole("button", { name: "Remove" }).click();
    // While it is open, what is behind it has no roles.
    await question.waitFor({ state: "detached" });
    await admin.getByRole("row", { name: email }).waitFor({ state: "detached" });
    await grace.reload();
    await grace.getByRole("heading", { name: "Log in to Toolgate" }).waitFor();
  });

  test("[MGMT-4] a link is not valid after it was withdrawn; the last admin stays, and makes no password link for themselves", async () => {
    const admin = await rig.open("/members");
    const alan = emailOf("alan");
    const withdrawn = await invite(admin, alan, "Admin");
    await admin.getByRole("button", { name: `Withdraw ${alan}` }).click();
    const question = dialogOf(admin, `Withdraw ${alan}?`);
    await question.getByRole("button", { name: "Withdraw" }).click();
    await question.waitFor({ state: "detached" });
    await admin.getByRole("region", { name: "Invitations" }).waitFor({ state: "detached" });
    const { page } = await openLink(withdrawn);
    await page.getByText("This link is no longer valid").waitFor();
    const { email } = rig.toolgate.account;
    await rowOf(admin, email).click();
    await admin.getByRole("button", { name: "Remove" }).click();
    await dialogOf(admin, `Remove ${email}?`).getByRole("button", { name: "Remove" }).click();
    await admin.getByText("is the only admin: make another member admin first").waitFor();
    await admin.getByRole("button", { name: "Cancel" }).click();
    await admin.getByRole("button", { name: "Change role" }).waitFor();
    expect(await admin.getByRole("button", { name: "Reset password" }).count()).toBe(0);
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
    await choosePassword(page, "Save");
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor();
    expect(sent.join("\n")).not.toContain(tokenOf(link));
    await manager.getByLabel("Password").fill(PASSWORD);
    await manager.getByRole("button", { name: "Log in" }).click();
    await manager.getByRole("dialog").waitFor({ state: "detached" });
  });
});
