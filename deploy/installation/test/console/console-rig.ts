import { provision } from "@toolgate/key-auth/operator/provision";
import type { Browser, BrowserContextOptions, Cookie, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findChromium, launchChromium } from "../browser.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

const chromium = findChromium();
const DEADLINE_MS = 60_000;
const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("CSP: " + violatedDirective + " " + blockedURI))`;

interface User {
  email: string;
  password: string;
}

interface OpenOptions extends BrowserContextOptions {
  user?: User | null;
  /** What is done before the page is loaded. */
  prepare?: (page: Page) => unknown;
  /** The page is not used again, because the test changes it in a way that cannot be undone. */
  isOwn?: boolean;
}

const VIEWPORT = { width: 1280, height: 800 };

/** The test files of this process share it, one after another; it ends with the process. */
let browser: Promise<Browser> | undefined;
/** Pages that nobody uses. Opening something in one of them takes a sixth of the CPU time that a new one takes. */
const resting: Page[] = [];

async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  browser ??= launchChromium(chromium ?? "");
  const context = await (await browser).newContext({ viewport: VIEWPORT, ...options });
  await context.addInitScript(REPORT_VIOLATIONS);
  return await context.newPage();
}

/** Takes from a page what its test did to it, so that another can use it. */
async function rest(page: Page): Promise<void> {
  const context = page.context();
  if (page.isClosed() || context.pages().length > 1) return context.close();
  for (const event of ["console", "pageerror", "request", "response", "dialog"]) page.removeAllListeners(event);
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await context.setOffline(false);
  // A page of the same origin, so that Chromium keeps the process for the next test.
  await page.goto(new URL("/nothing", page.url()).href);
  await page.evaluate("localStorage.clear(), sessionStorage.clear()");
  await page.emulateMedia({ colorScheme: null, reducedMotion: null });
  await page.setViewportSize(VIEWPORT);
  resting.push(page);
}

/** Tests of the console in a workspace of their own. `rig` can be used from their first `beforeAll` on. */
export function describeConsole(name: string, tests: (rig: ConsoleRig) => void): void {
  if (!chromium) {
    test.skip(`${name} (not run: Chromium is not on this machine)`, () => {});
    return;
  }
  describe(name, () => {
    const rig = new ConsoleRig();
    beforeAll(() => rig.start());
    afterAll(() => rig.stop());
    beforeEach(() => rig.keepOpen());
    afterEach(async ({ task }) => {
      if (task.result?.state === "fail") rig.problems.push(...(await rig.shownTexts()));
      await rig.closeOpened();
      expect(rig.problems.splice(0)).toEqual([]);
    });
    tests(rig);
  });
}

/** A workspace, and a Chromium that uses its console. */
export class ConsoleRig {
  toolgate!: RunningToolgate;
  /** Errors of scripts and violations of the content security policy on any page. A test ends with none. */
  readonly problems: string[] = [];
  /** Of the administrator's session. */
  #cookies: Cookie[] | undefined;
  readonly #opened: { page: Page; isOwn: boolean }[] = [];
  /** So many of those stay open when a test ends. */
  #kept = 0;
  #users = 0;

  async start(): Promise<void> {
    this.toolgate = await runToolgate("single");
  }

  async stop(): Promise<void> {
    await this.closeOpened(0);
    await this.toolgate?.[Symbol.asyncDispose]();
  }

  /**
   * A page that is signed in as the administrator, or as `user`; `null` for nobody. No other page has its cookies and
   * storage. What a test opens is closed after it, or used again: whoever changes more than listeners, routes, media, size
   * and whether it is offline passes `isOwn`.
   */
  async open(path: string, { user, prepare, isOwn: wantsOwn, ...options }: OpenOptions = {}): Promise<Page> {
    const { account, baseUrl } = this.toolgate;
    const isOwn = wantsOwn || Object.keys(options).length > 0;
    const page = (isOwn ? undefined : resting.pop()) ?? (await newPage(options));
    this.#opened.push({ page, isOwn });
    const context = page.context();
    await context.clearCookies();
    if (user === undefined && this.#cookies) await context.addCookies(this.#cookies);
    else if (user !== null) {
      const { email, password } = user ?? account;
      const response = await context.request.post(`${baseUrl}/session`, { data: { email, password } });
      expect(response.status()).toBe(200);
      if (!user) this.#cookies = await context.cookies();
    }
    page.setDefaultTimeout(DEADLINE_MS);
    page.on("pageerror", (error) => this.problems.push(error.message));
    page.on("console", (message) => {
      // A refused call is not a fault of the page.
      if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
        this.problems.push(message.text());
    });
    await prepare?.(page);
    await page.goto(`${baseUrl}/manage${path}`);
    return page;
  }

  /** Adds a user of the workspace. */
  async addUser(role: "member" | "manager" | "admin"): Promise<User> {
    const { account, pool } = this.toolgate;
    this.#users += 1;
    const user = { email: `${role}-${this.#users}-${account.email}`, password: "another password" };
    await provision(pool, { workspace: account.workspace, ...user, role });
    return user;
  }

  /** What the pages show, as a part of the report on a test that failed. */
  shownTexts(): Promise<string[]> {
    const textOf = async (page: Page) =>
      `${page.url()}: ${(await page.locator("body").innerText()).replaceAll(/\n+/g, " | ")}`;
    return Promise.all(this.#opened.map(({ page }) => textOf(page).catch(String)));
  }

  /** What is open now stays open when the next test ends. */
  keepOpen(): void {
    this.#kept = this.#opened.length;
  }

  async closeOpened(kept = this.#kept): Promise<void> {
    const opened = this.#opened.splice(kept);
    await Promise.all(
      opened.map(({ page, isOwn }) =>
        isOwn ? page.context().close() : rest(page).catch(() => page.context().close()),
      ),
    );
  }
}
