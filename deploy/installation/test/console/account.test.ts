import { expect, test } from "vitest";
import { expectAccessible } from "./accessibility.ts";
import { describeConsole } from "./console-rig.ts";

describeConsole("the user's own account and the workspace's settings, in the console", (rig) => {
  test("[MGMT-4] a member sees their sessions, ends one and then all others, and stays logged in", async () => {
    const user = await rig.addUser("member");
    const phone = await rig.open("/tools", { user, userAgent: "Mozilla/5.0 (iPhone) Safari/604.1" });
    const other = await rig.open("/tools", { user });
    const page = await rig.open("/account", { user });
    await page.getByRole("row", { name: /\(this device\)/ }).waitFor();
    expect(await page.getByRole("row").count()).toBe(4);
    await page.getByRole("button", { name: /Log out Safari on iOS/ }).click();
    await phone.reload();
    await phone.getByRole("heading", { name: "Log in to Toolgate" }).waitFor();
    await page.getByRole("row", { name: /Safari on iOS/ }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Log out everywhere else" }).click();
    await page.getByText("All other sessions have ended").waitFor();
    await other.reload();
    await other.getByRole("heading", { name: "Log in to Toolgate" }).waitFor();
    await page.reload();
    await page.getByRole("row", { name: /\(this device\)/ }).waitFor();
    expect(await page.getByRole("row").count()).toBe(2);
  });

  test("[MGMT-4] a member changes their password with the old one", async () => {
    const user = await rig.addUser("member");
    const page = await rig.open("/tools", { user });
    await page.getByRole("link", { name: `Your account: ${user.email}` }).click();
    const fill = async (current: string, next: string) => {
      await page.getByLabel("Current password").fill(current);
      await page.getByLabel("New password").fill(next);
      await page.getByLabel("The same again").fill(next);
      await page.getByRole("button", { name: "Change password" }).click();
    };
    await fill("wrong", "the next password");
    await page.getByText("The current password is wrong.").waitFor();
    await expectAccessible(page);
    await fill(user.password, "the next password");
    await page.getByText("The password is changed.").waitFor();
    expect(await page.getByLabel("Current password").inputValue()).toBe("");
    const again = await rig.open("/account", { user: { ...user, password: "the next password" } });
    await again.getByRole("row", { name: /\(this device\)/ }).waitFor();
  });

  test("[MGMT] title and contact of the API documents are set", async () => {
    const page = await rig.open("/settings");
    await page.getByLabel("Title").fill("Tools of <b>Acme</b>");
    await page.getByLabel("Contact", { exact: true }).fill("Partner desk");
    await page.getByLabel("Contact page").fill("nowhere");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Contact page").fill("https://acme.example/partners");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The documents say so now").waitFor();
    const { secret } = await rig.toolgate.createKey({ name: "Acme", tools: [], limit: 5 });
    const { body } = await rig.toolgate.request("/api/v1/openapi.json", {
      headers: { authorization: `Bearer ${secret}` },
    });
    expect(body.info).toMatchObject({
      title: "Tools of <b>Acme</b>",
      contact: { name: "Partner desk", url: "https://acme.example/partners" },
    });
    await page.reload();
    expect(await page.getByLabel("Title").inputValue()).toBe("Tools of <b>Acme</b>");
  });
});
