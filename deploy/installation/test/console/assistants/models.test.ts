import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, startOpenAiServer } from "../../../../../services/chat/test/model-servers/server.ts";
import { TOOLS } from "../../chat/front-door.ts";
import { type Storyteller, startStoryteller } from "../../chat/storyteller.ts";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";

const KEY = "sk-canary-of-the-console";

describeConsole("models, chats and usage in the console", (rig) => {
  let server: ModelServer;
  let story: Storyteller;

  beforeAll(async () => {
    server = await startOpenAiServer();
    await rig.toolgate.saveTool("greet", TOOLS.greet ?? {});
    story = await startStoryteller(rig.toolgate);
  });
  afterAll(async () => {
    await story?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const dialogOf = (page: Page, name: string) => page.getByRole("dialog", { name });
  const save = (page: Page) => page.getByRole("button", { name: "Save", exact: true }).click();

  test("[MGMT] a model is added, tested, changed and deleted, and its key is never shown", async () => {
    const page = await rig.open("/models");
    await page.getByRole("row", { name: /storyteller/ }).waitFor();
    await page.keyboard.press("c");
    const dialog = dialogOf(page, "Add model");
    await dialog.getByLabel("Name").fill("mine");
    await dialog.getByLabel("Address").fill(server.baseUrl);
    await dialog.getByLabel("Model", { exact: true }).fill("m-1");
    await dialog.getByLabel("API key").fill(KEY);
    await dialog.getByLabel("Input").fill("0.40");
    await dialog.getByLabel("Output").fill("1,6");
    server.answer({ fault: { kind: "status", status: 401 } });
    await dialog.getByRole("button", { name: "Test connection" }).click();
    await dialog.getByText(/^The API key is missing, wrong/).waitFor();
    server.answer({ toolCalls: [{ id: "a", name: "ping", args: "{}" }] });
    await dialog.getByRole("button", { name: "Test connection" }).click();
    await dialog.getByText(/^It works, with tools/).waitFor();
    expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${KEY}`);
    await save(page);
    await dialog.getByText("A number such as 0.40, with at most 6 decimals.").waitFor();
    await expectAccessible(page);
    await dialog.getByLabel("Output").fill("1.6");
    await save(page);
    const panel = page.getByRole("complementary", { name: "mine" });
    await panel.getByText("$0.40 / $1.60").waitFor();
    await expectAccessible(page);
    await page.setViewportSize({ width: 360, height: 740 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await page.content()).not.toContain(KEY);
    // The stored key is used by the test, and stays when the field is left empty.
    await panel.getByRole("button", { name: "Test connection" }).click();
    await panel.getByText(/^It works, with tools/).waitFor();
    await panel.getByRole("button", { name: "Edit" }).click();
    await dialogOf(page, "Edit mine").getByLabel("Model", { exact: true }).fill("m-2");
    await save(page);
    await panel.getByText("m-2").waitFor();
    await panel.getByText("stored").waitFor();
    await panel.getByText("$0.40 / $1.60").waitFor();
    server.answer({ fault: { kind: "status", status: 404, body: '{"error":{"code":"model_not_found"}}' } });
    await panel.getByRole("button", { name: "Test connection" }).click();
    await panel.getByText("Model name").waitFor();
    await panel.getByRole("button", { name: "Delete" }).click();
    const question = dialogOf(page, "Delete mine?");
    await question.getByRole("button", { name: "Delete" }).click();
    await question.waitFor({ state: "detached" });
    await page.getByRole("row", { name: /mine/ }).waitFor({ state: "detached" });
  });

  test("[CHAT-25] a user's own chats are listed with their history, and go on in the playground", async () => {
    const { manage } = rig.toolgate;
    const page = await rig.open("/assistants/tester?tab=playground");
    await page.getByLabel("Your message").fill("greet Ada");
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText("Hello, Ada", { exact: true }).waitFor();
    await page.getByText(/tokens/).waitFor();
    const member = await rig.addUser("member");
    const others = await rig.open("/chats", { user: member });
    await others.getByText("No chats yet").waitFor();
    await page.goto(`${rig.toolgate.baseUrl}/manage/chats`);
    await page.getByRole("row", { name: /^greet Ada tester/ }).click();
    const panel = page.getByRole("complementary", { name: "greet Ada" });
    await panel.getByRole("log").getByText("Hello, Ada", { exact: true }).waitFor();
    await expectAccessible(page);
    await page.reload();
    await panel.getByRole("log").getByText("Hello, Ada", { exact: true }).waitFor();
    await panel.getByRole("link", { name: "Go on in the playground" }).click();
    await page.getByLabel("Your message").fill("greet Bob");
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText("Hello, Bob", { exact: true }).waitFor();
    expect(await page.getByRole("log").getByRole("article").count()).toBe(4);
    const { chats } = await manage<{ chats: unknown[] }>("chat.v1.ChatLogService/ListChats", {});
    expect(chats).toHaveLength(1);
  });

  test("[MGMT] usage is shown by day and model, and the budget and the sites are changed", async () => {
    const { manage } = rig.toolgate;
    const settings = async () =>
      (await manage<{ settings: Record<string, unknown> }>("chat.v1.AssistantService/GetChatSettings", {})).settings;
    await rig.toolgate.pool.query(
      `insert into chat.usage (workspace_id, day, model, turns, input_tokens, output_tokens)
       select id::text, (now() at time zone 'UTC')::date - 3, 'old', 7, 1200, 34 from key_auth.workspaces where code = $1`,
      [rig.toolgate.account.workspace],
    );
    const page = await rig.open("/usage");
    await page.getByRole("row", { name: /old 7 1,200 34/ }).waitFor();
    await page.getByRole("img", { name: /^Tokens by day: / }).waitFor();
    await page.getByText(/There is no budget\.$/).waitFor();
    await page.getByRole("button", { name: "Settings" }).click();
    const dialog = dialogOf(page, "Settings of chats");
    await dialog.getByLabel("Tokens per day").fill("many");
    await save(page);
    await dialog.getByText("A whole number.").waitFor();
    await dialog.getByLabel("Tokens per day").fill("1000000");
    await dialog.getByLabel(/^Sites/).fill("https://www.example.com\nnonsense");
    await save(page);
    await dialog.getByRole("alert").waitFor();
    await dialog.getByLabel(/^Sites/).fill("https://www.example.com");
    await save(page);
    await page.getByText(/ of 1,000,000 tokens used since midnight UTC$/).waitFor();
    expect(await settings()).toMatchObject({
      tokensPerDay: "1000000",
      allowedOrigins: ["https://www.example.com"],
    });
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
    await page.getByLabel("Days").selectOption("7");
    await expect.poll(() => new URL(page.url()).searchParams.get("days")).toBe("7");
    await page.getByRole("row", { name: /old 7 1,200 34/ }).waitFor();
  });
});
