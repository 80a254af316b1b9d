import { startTcpProxy } from "@toolgate/testbed/servers/tcp-proxy";
import type { Browser, BrowserContext, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findChromium, launchChromium } from "../browser.ts";
import { type ChatFrontDoor, signIn } from "./front-door.ts";
import { type Site, startSite } from "./site.ts";
import { LAST_WORD, openStories, type Storyteller } from "./storyteller.ts";

const DEADLINE_MS = 60_000;
/** Where the answers wait until the test has looked at them. */
const PAUSE = 30;

/** The text of simple HTML. */
function textOfHtml(html: string): string {
  const text = html.replace(/<[^>]*>/g, "");
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
}

const chromium = findChromium();
if (!chromium) test.skip("not run: Chromium is not on this machine", () => {});

describe.skipIf(!chromium)("the widget in Chromium", () => {
  let door: ChatFrontDoor;
  let story: Storyteller;
  let network: Awaited<ReturnType<typeof startTcpProxy>>;
  let site: Site;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let problems: string[];

  beforeAll(async () => {
    [door, story] = await openStories("single");
    const { baseUrl, account, manage } = door.toolgate;
    const newToken = async () => (await signIn(door.toolgate, account)).headers.authorization.replace("Bearer ", "");
    network = await startTcpProxy(baseUrl);
    site = await startSite({ gatewayUrl: network.url, tenant: door.tenant, newToken });
    await manage("chat.v1.AssistantService/UpdateChatSettings", { allowedOrigins: { origins: [site.origin] } });
    browser = await launchChromium(chromium ?? "");
  });
  afterAll(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
    await network?.[Symbol.asyncDispose]();
    await story?.[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    story.pauseAt(PAUSE);
    context = await browser.newContext();
    page = await context.newPage();
    page.setDefaultTimeout(DEADLINE_MS);
    problems = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/.test(message.text())) problems.push(message.text());
    });
    await page.goto(site.origin);
  });
  afterEach(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });

  const log = () => page.getByRole("log");
  const answers = () => page.locator(".message.assistant");
  const users = () => page.locator(".message.user");

  async function open(): Promise<void> {
    await page.getByRole("button", { name: "Chat" }).click();
    await page.getByText("How can I <help> you?").waitFor();
  }

  async function send(text: string): Promise<void> {
    await page.getByLabel("Your message").fill(text);
    await page.keyboard.press("Enter");
  }

  async function finished(): Promise<void> {
    await page.getByRole("button", { name: "Send" }).waitFor();
    expect(await page.locator("[aria-busy]").count()).toBe(0);
  }

  /** The answers as the page shows them, and as the server stored them. */
  async function expectAsStored(): Promise<void> {
    const chatId = await page.evaluate(
      () => Object.entries(localStorage).find(([name]) => name.endsWith(" chat"))?.[1],
    );
    const stored = (await door.history(chatId ?? "")).filter(({ role }) => role === "assistant");
    const texts = stored.map(({ content }) => textOfHtml(content));
    const shown = await answers().locator("> div").allTextContents();
    expect(shown).toEqual(texts);
  }

  test("[CHAT-1] [CHAT-39] a visitor's message is answered with the help of a tool, and suggestions can be clicked", async () => {
    await open();
    await send("greet Ada");
    await log().getByText("Hello, Ada").waitFor();
    await finished();
    // What is quoted stays text.
    expect(await answers().first().textContent()).toContain("How can I <help> you?");
    await page.getByRole("button", { name: "greet Ada" }).click();
    await expect.poll(() => answers().count(), { timeout: DEADLINE_MS }).toBe(3);
    await finished();
    expect(await users().count()).toBe(2);
  });

  test("[CHAT] after a reload in the middle of an answer the rest arrives, and everything is there once", async () => {
    await open();
    await send("greet Ada");
    await log().getByText("Hello, Ada").waitFor();
    await finished();
    await send("tell a story");
    await log().getByText("word-20").waitFor();
    expect(await log().textContent()).not.toContain(LAST_WORD);
    await page.reload();
    await log().getByText("word-20").waitFor();
    expect(await log().textContent()).not.toContain(LAST_WORD);
    story.finish();
    await log().getByText(LAST_WORD).waitFor();
    await finished();
    expect(await users().allTextContents()).toEqual(["You: greet Ada", "You: tell a story"]);
    await expectAsStored();
    await page.reload();
    await log().getByText(LAST_WORD).waitFor();
    await finished();
    expect(await users().count()).toBe(2);
    await expectAsStored();
  });

  test("[CHAT] a message sent before the history has arrived is shown and answered once, also after a reload", async () => {
    await open();
    await send("greet Ada");
    await log().getByText("Hello, Ada").waitFor();
    await finished();
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/chat/stream?")) sent.push(request.url());
    });
    for (const [index, name] of ["Bob", "Eve"].entries()) {
      const held = Promise.withResolvers<void>();
      const hold = async (route: Route) => {
        await held.promise;
        await route.continue().catch(() => {});
      };
      await page.route("**/chat/history?*", hold);
      const asked = page.waitForRequest("**/chat/history?*");
      await page.reload();
      await asked;
      await send(`greet ${name}`);
      expect(sent).toHaveLength(index);
      if (name === "Eve") await page.reload();
      held.resolve();
      await log().getByText(`Hello, ${name}`).waitFor();
      await finished();
      await page.unroute("**/chat/history?*", hold);
    }
    expect(await users().allTextContents()).toEqual(["You: greet Ada", "You: greet Bob", "You: greet Eve"]);
    await expectAsStored();
  });

  test("[CHAT] an answer that another tab asked for continues in this one", async () => {
    await open();
    await send("tell a story");
    await log().getByText("word-20").waitFor();
    const other = await context.newPage();
    await other.goto(site.origin);
    await other.getByRole("button", { name: "Chat" }).click();
    await other.getByRole("log").getByText("word-20").waitFor({ timeout: DEADLINE_MS });
    story.finish();
    await other.getByRole("log").getByText(LAST_WORD).waitFor({ timeout: DEADLINE_MS });
    expect(await other.locator(".message.user").count()).toBe(1);
    expect(await other.locator(".message.assistant").count()).toBe(1);
    await finished();
  });

  test("[CHAT] an offline moment loses nothing", async () => {
    await open();
    await send("tell a story");
    await log().getByText("word-20").waitFor();
    await context.setOffline(true);
    network.cut();
    // The stream has broken, and so has the first attempt to replace it.
    await page.getByText("Reconnecting").waitFor();
    await context.setOffline(false);
    story.finish();
    await log().getByText(LAST_WORD).waitFor();
    await finished();
    expect(await users().count()).toBe(1);
    expect((await answers().count()) - 1).toBe(1);
    await expect.poll(() => page.getByRole("status").textContent()).toBe("");
  });

  test("[CHAT] it can be used with the keyboard alone, and names its parts for screen readers", async () => {
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Shop assistant" });
    await dialog.waitFor();
    const focused = () => page.locator(":focus").last().textContent();
    const isTyping = () => page.getByLabel("Your message").evaluate((element) => element.matches(":focus"));
    expect(await isTyping()).toBe(true);
    await page.keyboard.type("tell a story");
    await page.keyboard.press("Enter");
    await dialog.getByRole("log", { name: "Messages" }).getByText("word-20").waitFor();
    expect(await page.locator("[aria-busy=true]").count()).toBe(1);
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Stop");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Stopped.").waitFor();
    await finished();
    expect(await isTyping()).toBe(true);
    expect(await log().textContent()).not.toContain(LAST_WORD);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    expect(await focused()).toBe("Chat");
  });

  test("[CHAT] a new chat begins empty, and is another one", async () => {
    await open();
    await send("greet Ada");
    await log().getByText("Hello, Ada").waitFor();
    await finished();
    await page.getByRole("button", { name: "New chat" }).click();
    await page.getByText("How can I <help> you?").waitFor();
    expect(await users().count()).toBe(0);
    await send("greet Bob");
    await log().getByText("Hello, Bob").waitFor();
    await finished();
    await page.reload();
    await log().getByText("Hello, Bob").waitFor();
    expect(await log().textContent()).not.toContain("Ada");
  });

  test("[CHAT-34] [CHAT-49] a token that is refused is replaced, and one is enough for many requests", async () => {
    site.handOutOnce("not-a-token");
    const before = site.tokens();
    await open();
    await send("greet Ada");
    await log().getByText("Hello, Ada").waitFor();
    await finished();
    expect(site.tokens() - before).toBe(2);
  });

  test("[CHAT-14] nothing in a message runs, even on a page without a policy", async () => {
    await page.goto(`${site.origin}/without-policy`);
    await open();
    await page.route("**/chat/stream?*", (route) =>
      route.fulfill({
        headers: { "content-type": "text/event-stream", "access-control-allow-origin": site.origin },
        body: [
          `id: 1\n\nid: 2\nevent: message\ndata: ${JSON.stringify({
            role: "assistant",
            content:
              '<p onclick="document.title=1">safe <img src=x onerror="document.title=1"><script>document.title=1</script><a href="javascript:document.title=1">link</a><iframe srcdoc="x"></iframe><svg onload="document.title=1"></svg></p>',
          })}\n\n`,
          'id: 3\nevent: done\ndata: {"resumed":false}\n\n',
        ].join(""),
      }),
    );
    await send("attack");
    await log().getByText("safe").waitFor();
    await finished();
    const shown = answers().last().locator("> div");
    expect(await shown.innerHTML()).toBe("<p>safe <a>link</a></p>");
    await shown.getByText("link").click();
    expect(await page.title()).toBe("Shop");
  });
});
