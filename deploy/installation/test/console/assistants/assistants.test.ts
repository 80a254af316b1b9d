import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";

describeConsole("assistants in the console", (rig) => {
  beforeAll(async () => {
    for (const name of ["find_order", "send_mail"])
      await rig.toolgate.saveTool(name, { handler: "export default () => ({});" });
    const server = { provider: "MODEL_PROVIDER_OPENAI_COMPATIBLE", baseUrl: rig.toolgate.receiver.url, model: "m" };
    for (const name of ["first", "spare"])
      await rig.toolgate.manage("chat.v1.ModelService/SaveModel", { name, ...server });
  });

  interface Saved {
    version: number;
    isDefault?: boolean;
    definition: Record<string, unknown>;
  }

  const manage = <T>(method: string, request: Record<string, unknown>) =>
    rig.toolgate.manage<T>(`chat.v1.AssistantService/${method}`, request);
  const saved = async (name: string) => (await manage<{ assistant: Saved }>("GetAssistant", { name })).assistant;

  async function save(page: Page, version: number): Promise<void> {
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText(new RegExp(`^Version ${version}, `)).waitFor();
  }

  test("[MGMT] an assistant is created, edited, made the default and deleted", async () => {
    const page = await rig.open("/assistants");
    await page.getByRole("row", { name: /^assistant/ }).waitFor();
    await page.keyboard.press("c");
    const dialog = page.getByRole("dialog", { name: "Create assistant" });
    await dialog.getByLabel("Name").fill("no spaces");
    await dialog.getByRole("button", { name: "Create assistant" }).click();
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel("Name").fill("orders");
    await dialog.getByLabel("Instructions").fill("You answer questions about orders.");
    await dialog.getByRole("button", { name: "Create assistant" }).click();
    await page.getByText(/^Version 1, /).waitFor();
    await page.getByLabel("Add to models").selectOption("spare");
    await page.getByLabel("Add to models").selectOption("first");
    await page.getByRole("button", { name: "Earlier" }).click();
    await page.getByLabel("Add to tools").selectOption("find_order");
    await page.getByLabel("Add to tools").selectOption("send_mail");
    await page.getByRole("button", { name: "Remove send_mail" }).click();
    await page.getByLabel("Greeting").fill("Which order?");
    await page.getByLabel("Suggestions").fill("Where is 17?\n\nCancel 17\n");
    await expectAccessible(page);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
    await save(page, 2);
    expect(await saved("orders")).toMatchObject({
      version: 2,
      isDefault: true,
      definition: {
        instructions: "You answer questions about orders.",
        models: ["first", "spare"],
        tools: ["find_order"],
        greeting: "Which order?",
        suggestions: ["Where is 17?", "Cancel 17"],
      },
    });
    await manage("SaveAssistant", { name: "second", definition: {} });
    await page.goto(`${rig.toolgate.baseUrl}/manage/assistants/second`);
    await page.getByRole("button", { name: "Make it the default" }).click();
    await page.getByText("Default").waitFor();
    await page.goto(`${rig.toolgate.baseUrl}/manage/assistants/orders`);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await page
      .getByRole("dialog", { name: "Delete orders?" })
      .getByRole("button", { name: "Delete assistant" })
      .click();
    await page.getByRole("row", { name: /^second/ }).waitFor();
    expect(await page.getByRole("row", { name: /^orders/ }).count()).toBe(0);
  });

  test("[EXPO-2] [EXPO-3] releasing an assistant for hooks is asked in words, and its versions are compared and restored", async () => {
    await manage("SaveAssistant", { name: "hooked", definition: { instructions: "One", tools: ["find_order"] } });
    const page = await rig.open("/assistants/hooked");
    await page.getByLabel("Released for hooks").check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const question = page.getByRole("dialog", { name: "Open hooked to callers outside?" });
    await question.getByText("No hook runs hooked yet.").waitFor();
    await question.getByText("It may call these tools, and they may only read:").waitFor();
    await question.getByRole("button", { name: "Cancel" }).click();
    expect((await saved("hooked")).version).toBe(1);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await question.getByRole("button", { name: "Save and open it" }).click();
    await page.getByText(/^Version 2, /).waitFor();
    await page.getByLabel("Instructions").fill("Three");
    await page.getByLabel("Released for hooks").uncheck();
    await save(page, 3);
    await page.getByRole("link", { name: "Versions" }).click();
    await page.getByRole("row", { name: /Version 2/ }).click();
    const panel = page.getByRole("complementary", { name: "Version 2" });
    await panel.getByRole("region", { name: "Differences" }).getByText('"inbound_hook": true').waitFor();
    await panel.getByRole("button", { name: "Restore" }).click();
    await question.getByRole("button", { name: "Save and open it" }).click();
    await page.getByRole("row", { name: /Version 4.*Current/ }).waitFor();
    expect((await saved("hooked")).definition).toMatchObject({ instructions: "One", inboundHook: true });
  });

  test("[MGMT-2] a member may read an assistant, and changes nothing", async () => {
    await manage("SaveAssistant", { name: "readable", definition: { instructions: "Read me" } });
    const page = await rig.open("/assistants/readable", { user: await rig.addUser("member") });
    await expect.poll(() => page.getByLabel("Instructions").inputValue()).toBe("Read me");
    expect(await page.getByLabel("Instructions").getAttribute("readonly")).not.toBeNull();
    expect(await page.getByRole("button", { name: /Save|Delete|default/ }).count()).toBe(0);
    await page.goto(`${rig.toolgate.baseUrl}/manage/assistants`);
    await page.getByRole("row", { name: /^readable/ }).waitFor();
    expect(await page.getByRole("button", { name: "Create assistant" }).count()).toBe(0);
  });
});
