import type { Locator, Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";
import { ECHO, ORDER, openTab } from "./api-tab-rig.ts";

const OFFER = "Release it in the builder chat";

/** From the API tab to the card in the builder chat. */
async function propose(page: Page, tool: string): Promise<Locator> {
  await page.getByRole("link", { name: OFFER }).click();
  await page.getByRole("button", { name: `Release ${tool} for API keys` }).click();
  const card = page.getByRole("region", { name: `Proposed change of ${tool}` });
  await card.getByRole("button").waitFor();
  return card;
}

describeConsole("the API tab of a tool that keys cannot call", (rig) => {
  beforeAll(async () => {
    const { toolgate } = rig;
    await toolgate.saveTool("closed", { ...ORDER, external_api: true });
    await toolgate.saveTool("public", { ...ORDER, external_api: false, public_api: true });
    await toolgate.saveTool("yes", { ...ORDER, external_api: "yes" });
    await toolgate.saveTool("slow", { ...ORDER, async: true });
    await toolgate.saveTool("slow_and_closed", { handler: ECHO, async: 1 });
  });

  test("[BLD-28] it explains the difference to the public API, and shows no endpoint", async () => {
    const page = await openTab(rig, "public", { user: await rig.addUser("member") });
    const notice = page.getByRole("region", { name: "Not released for API keys" });
    expect(await notice.innerText()).toMatch(
      /public_api opens a tool to anyone's browser.*Neither release opens the other/s,
    );
    expect(await notice.innerText()).toContain("This tool is open to the public API.");
    expect(await page.getByText("/api/v1/tools/").count()).toBe(0);
    // A member cannot release it.
    expect(await notice.getByRole("link").count()).toBe(0);
    expect(await notice.innerText()).toContain("Ask a manager or an admin");
  });

  test("[BLD-29] [EXPO-2] [EXPO-4] it offers the release through the builder chat, which is saved only after a question that names its reach", async () => {
    const { toolgate } = rig;
    const { secret } = await toolgate.createKey({ name: "Acme", tools: ["closed"] });
    await toolgate.createKey({ name: "Other", tools: [] });
    const gone = await toolgate.createKey({ name: "Gone", tools: ["closed"] });
    await toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: gone.id });
    await toolgate.saveTool("closed", { ...ORDER, external_api: false });
    const page = await openTab(rig, "closed", { user: await rig.addUser("manager") });
    const card = await propose(page, "closed");
    await card.getByText("1 key may call closed from the internet, and it may only read.").waitFor();
    expect(await card.getByRole("listitem").allInnerTexts()).toEqual(["Released for API keys (external_api)", "Acme"]);
    expect((await toolgate.call("closed", secret, { amount: 5 })).status).toBe(403);
    await card.getByRole("button", { name: "Save and open it" }).click();
    await card.getByText("saved as version 3").waitFor();
    expect((await toolgate.call("closed", secret, { amount: 5 })).status).toBe(200);
    const { tool } = await toolgate.manage<{ tool: { definition: object } }>("tool_runner.v1.ToolService/GetTool", {
      name: "closed",
    });
    expect(tool.definition).toEqual({ ...ORDER, external_api: true });
  });

  test("[BLD-30] a release that is not exactly true is said to have no effect, and can be corrected", async () => {
    const page = await openTab(rig, "yes");
    const notice = page.getByRole("region", { name: "The release has no effect" });
    expect(await notice.innerText()).toContain('external_api is "yes". Only true, the boolean, releases a tool');
    await expectAccessible(page);
    const card = await propose(page, "yes");
    await card.getByRole("button", { name: "Save and open it" }).click();
    await card.getByText("saved as version 2").waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Endpoint" }).waitFor();
  });

  test("[BLD-31] the release of an async tool is said to have no effect, and is not offered", async () => {
    const page = await openTab(rig, "slow");
    for (const tool of ["slow", "slow_and_closed"]) {
      await page.goto(`${rig.toolgate.baseUrl}/manage/tools/${tool}?tab=api`);
      await page.getByRole("region", { name: "The tool is async, so the release has no effect" }).waitFor();
      expect(await page.getByRole("link", { name: OFFER }).count()).toBe(0);
    }
  });
});
