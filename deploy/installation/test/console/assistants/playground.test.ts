import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TOOLS } from "../../chat/front-door.ts";
import { LAST_WORD, type Storyteller, startStoryteller } from "../../chat/storyteller.ts";
import { expectAccessible, expectToFit } from "../accessibility.ts";
import { describeConsole } from "../console-rig.ts";

/** Where the answers wait until the test has looked at them. */
const PAUSE = 30;
const PATH = "/assistants/tester?tab=playground";

describeConsole("the playground", (rig) => {
  let story: Storyteller;

  beforeAll(async () => {
    await rig.toolgate.saveTool("greet", TOOLS.greet ?? {});
    story = await startStoryteller(rig.toolgate);
  });
  afterAll(() => story?.[Symbol.asyncDispose]());
  beforeEach(() => story.pauseAt(PAUSE));

  const log = (page: Page) => page.getByRole("log");
  const finished = (page: Page) => page.getByRole("button", { name: "Send" }).waitFor();

  async function send(page: Page, text: string): Promise<void> {
    await page.getByLabel("Your message").fill(text);
    await page.keyboard.press("Enter");
  }

  test("[CHAT] an answer streams with the tools that run, and after a reload in the middle of it the rest arrives", async () => {
    const page = await rig.open(PATH);
    await send(page, "greet Ada and tell a story");
    const card = page.getByRole("group").filter({ hasText: "greet" });
    await card.getByText("done").waitFor();
    await card.getByRole("group", { name: "Arguments" }).getByText('"name": "Ada"').waitFor();
    await card.getByRole("group", { name: "Result" }).getByText("Hello, Ada").waitFor();
    await log(page).getByText("word-20").waitFor();
    await expectAccessible(page);
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await expectToFit(page);
    }
    expect(await log(page).textContent()).not.toContain(LAST_WORD);
    await page.reload();
    await log(page).getByText("word-20").waitFor();
    expect(await log(page).textContent()).not.toContain(LAST_WORD);
    await page.getByRole("button", { name: "Stop" }).waitFor();
    story.finish();
    await log(page).getByText(LAST_WORD).waitFor();
    await finished(page);
    expect(await log(page).getByRole("article").count()).toBe(2);
    await page.reload();
    await log(page).getByText(LAST_WORD).waitFor();
    await finished(page);
    expect(await log(page).getByRole("article").count()).toBe(2);
    // What the tool was asked is there later too.
    await page.getByText("greet", { exact: true }).click();
    await page.getByRole("group", { name: "Result" }).getByText("Hello, Ada").waitFor();
  });

  test("[CHAT-31] [CHAT-32] an answer is stopped, and a chat is reset and goes on", async () => {
    const page = await rig.open(PATH);
    await send(page, "tell a story");
    await log(page).getByText("word-20").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await log(page).getByText("· stopped").waitFor();
    await finished(page);
    expect(await log(page).textContent()).not.toContain(LAST_WORD);
    story.finish();
    await page.getByRole("button", { name: "Reset chat" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reset chat" }).click();
    await log(page).getByText("word-20").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "greet Ada" }).click();
    await log(page).getByText("Hello, Ada", { exact: true }).waitFor();
    await finished(page);
    expect(await log(page).getByRole("article").count()).toBe(2);
    // What the old chat says is gone before the new one is loaded.
    const held = Promise.withResolvers<void>();
    await page.route(/\/chat\/history/, async (route) => {
      await held.promise;
      await route.continue();
    });
    await page.getByRole("button", { name: "New chat" }).click();
    await log(page).getByRole("article").first().waitFor({ state: "detached" });
    held.resolve();
    await page.getByRole("button", { name: "greet Ada" }).waitFor();
    expect(new URL(page.url()).searchParams.get("chat")).toBeNull();
    await page.goBack();
    await log(page).getByText("Hello, Ada", { exact: true }).waitFor();
  });

  test("[CHAT-11] a message takes a file, whose name stays with it", async () => {
    story.finish();
    const page = await rig.open(PATH);
    await page
      .getByLabel("Attach a file")
      .setInputFiles({ name: "note.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
    await page.getByRole("button", { name: "Remove note.txt" }).waitFor();
    await expectAccessible(page);
    await send(page, "greet Bob");
    await log(page).getByText("Hello, Bob", { exact: true }).waitFor();
    await finished(page);
    await page.getByRole("button", { name: "Remove note.txt" }).waitFor({ state: "detached" });
    // The answer came as a whole, and the tools that ran are shown nevertheless.
    await page.getByText("greet", { exact: true }).waitFor();
    await page.reload();
    await log(page).getByRole("article").filter({ hasText: "note.txt" }).waitFor();
  });

  test("[MGMT-5] hostile HTML of an answer becomes text and harmless elements, under one policy for Trusted Types", async () => {
    const page = await rig.open("/assistants");
    const content = `<p onclick="alert(1)">kept</p><img src=x onerror="console.error('ran')"><script>console.error('ran')</script>
<a href="javascript:alert(1)">link</a><form action="/session"><input name=a></form><style>*{color:red}</style>`;
    const events = `id: 1\nevent: message\ndata: ${JSON.stringify({ role: "assistant", content })}\n\nid: 2\nevent: done\ndata: {"resumed":true}\n\n`;
    await page.route(/\/chat\/resume/, (route) => route.fulfill({ contentType: "text/event-stream", body: events }));
    await page.getByRole("row", { name: /tester/ }).click();
    await page.getByRole("link", { name: "Playground" }).click();
    await log(page).getByText("kept").waitFor();
    const shown = log(page).getByRole("article");
    expect(await shown.locator("img, script, form, input, style, [onclick], [href]").count()).toBe(0);
    await shown.getByText("link").waitFor();
    expect(
      await page.evaluate(
        `(() => { try { document.createElement("p").innerHTML = "<b>x</b>"; return "taken"; } catch { return "refused"; } })()`,
      ),
    ).toBe("refused");
    expect(
      await page.evaluate(
        `(() => { try { trustedTypes.createPolicy("another", {}); return "made"; } catch { return "refused"; } })()`,
      ),
    ).toBe("refused");
    // The browser reports both refusals, and what it would not have run in the answer either; nothing ran.
    const reports = () => rig.problems.join("\n");
    await expect.poll(reports).toContain("CSP: trusted-types ");
    expect(reports()).toContain("CSP: require-trusted-types-for ");
    expect(rig.problems.splice(0)).not.toContain("ran");
  });

  test("[CHAT-33] a member may chat with an assistant, and sees neither arguments nor results of its tools", async () => {
    story.finish();
    const member = await rig.addUser("member");
    const page = await rig.open(PATH, { user: member });
    await send(page, "greet Eve");
    await log(page).getByText("Hello, Eve", { exact: true }).waitFor();
    await finished(page);
    await page.getByText("greet", { exact: true }).waitFor();
    expect(await page.getByText("Arguments").count()).toBe(0);
    const chatId = new URL(page.url()).searchParams.get("chat") ?? "";
    // Nobody else may read the chat.
    const other = await rig.open(`${PATH}&chat=${chatId}`);
    await log(other)
      .getByText(/no access to this chat|belongs to another user/i)
      .waitFor();
    expect(await log(other).textContent()).not.toContain("Eve");
  });
});
