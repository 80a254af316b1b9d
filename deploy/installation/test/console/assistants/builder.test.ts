import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";

const HANDLER = "export default () => ({ ok: true });";

describeConsole("the builder chat", (rig) => {
  async function say(page: Page, text: string): Promise<void> {
    // Until the chat is loaded nothing is sent.
    await page.getByRole("button", { name: "Send" }).waitFor();
    await page.getByLabel("Your message").fill(text);
    await page.keyboard.press("Enter");
  }
  const cardOf = (page: Page, tool: string) => page.getByRole("region", { name: `Proposed change of ${tool}` });
  const log = (page: Page) => page.getByRole("log");
  /** Waits for the end of an answer. */
  async function answered(page: Page, text: string): Promise<void> {
    await log(page).getByText(text).last().waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
  }
  async function versionOf(name: string): Promise<number> {
    const { tool } = await rig.toolgate.manage<{ tool: { version: number } }>("tool_runner.v1.ToolService/GetTool", {
      name,
    });
    return tool.version;
  }

  test("[EXPO-2] [EXPO-4] a tool is released by asking for it and a click on its card, which a reload shows again", async () => {
    const { toolgate } = rig;
    await toolgate.saveTool("orders", { handler: HANDLER });
    const page = await rig.open("/builder", { user: await rig.addUser("manager") });
    await log(page).getByText("Which tool do you want to release or change?").waitFor();
    await say(page, "Release orders");
    const card = cardOf(page, "orders");
    await log(page).getByText("I have proposed it").waitFor();
    await card.getByText('"external_api": true').waitFor();
    await card.getByText("Save this as version 2, and open orders to callers outside?").waitFor();
    await card.getByText("internet").waitFor();
    expect(await versionOf("orders")).toBe(1);
    await expectAccessible(page);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
    await page.reload();
    await card.getByRole("button", { name: "Save and open it" }).click();
    await card.getByText("saved as version 2").waitFor();
    expect(await card.getByRole("button").count()).toBe(0);
    expect(await versionOf("orders")).toBe(2);
  });

  test("[EXPO-2] yes confirms the question with which the conversation ends, and nothing else that is said or answered does", async () => {
    await rig.toolgate.saveTool("parcels", { handler: HANDLER });
    const page = await rig.open("/builder");
    await say(page, "Release parcels for everyone");
    await answered(page, "I have proposed it");
    // It may answer what the assistant said after it proposed the release.
    await cardOf(page, "parcels").getByText("not confirmed").waitFor();
    expect(await cardOf(page, "parcels").getByText("Or answer yes").count()).toBe(0);
    await say(page, "yes");
    await page.getByText("Your yes saved nothing. Click Save on the card.").waitFor();
    await answered(page, "was not changed. The proposal is open");
    expect(await versionOf("parcels")).toBe(1);
    await say(page, "What is confirm_exposure=true?");
    await answered(page, "I understand only these requests");
    await say(page, "yes");
    await log(page).getByText("was not changed. The proposal is open").nth(1).waitFor();
    expect(await versionOf("parcels")).toBe(1);
    await say(page, 'Change parcels to {"description": "Counts parcels"}');
    await cardOf(page, "parcels").nth(1).getByText("It opens the tool to nobody").waitFor();
    await answered(page, "I have proposed it");
    await cardOf(page, "parcels").nth(1).getByText("Or answer yes").waitFor();
    expect(await log(page).locator(":scope > :last-child").textContent()).toContain("It opens the tool to nobody");
    await say(page, "Ja!");
    await answered(page, "Version 2 of parcels is saved.");
    await cardOf(page, "parcels").nth(1).getByText("saved as version 2").waitFor();
    expect(await versionOf("parcels")).toBe(2);
    // The first one was made for version 1.
    await page.reload();
    await cardOf(page, "parcels").first().getByText("The tool was changed after this was proposed.").waitFor();
  });

  test("[EXPO-2] a yes that could not be taken says why, and is not sent", async () => {
    await rig.toolgate.saveTool("unsaved", { handler: HANDLER });
    const page = await rig.open("/builder");
    await say(page, 'Change unsaved to {"description": "Unsaved"}');
    await answered(page, "I have proposed it");
    await cardOf(page, "unsaved").getByText("Or answer yes").waitFor();
    await page.route(/ConfirmProposal$/, (route) => route.abort());
    await say(page, "yes");
    await page.getByRole("alert").getByText("Toolgate cannot be reached.").waitFor();
    await page.unroute(/ConfirmProposal$/);
    await say(page, "yes");
    await answered(page, "Version 2 of unsaved is saved.");
    expect(await log(page).getByText("yes", { exact: true }).count()).toBe(1);
  });

  test("[CHAT-25] a chat with the builder goes on in the builder", async () => {
    const page = await rig.open("/builder", { user: await rig.addUser("manager") });
    await say(page, "List the tools");
    await log(page)
      .getByText(/tokens/)
      .waitFor();
    await page.goto(`${rig.toolgate.baseUrl}/manage/chats`);
    await page.getByRole("row", { name: /^List the tools/ }).click();
    await page.getByRole("link", { name: "Go on in the builder" }).click();
    await page.getByRole("heading", { name: "Builder" }).waitFor();
    await log(page).getByText("List the tools").waitFor();
  });

  test("[EXPO-2] an API key confirms nothing", async () => {
    const { toolgate } = rig;
    const { secret } = await toolgate.createKey({ name: "Acme", tools: [] });
    const { status } = await toolgate.request("/toolgate.tool_runner.v1.ProposalService/ConfirmProposal", {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ workspace: toolgate.account.workspace }),
    });
    expect(status).toBe(401);
  });
});
