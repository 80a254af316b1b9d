import { provision } from "@toolgate/key-auth/operator/provision";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import { findChromium, launchChromium } from "../browser.ts";
import { type RunningToolgate, runToolgate, type Setup } from "../running-toolgate.ts";

export const chromium = findChromium();
const DEADLINE_MS = 20_000;
const REPORT_VIOLATIONS = `document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error("CSP: " + violatedDirective + " " + blockedURI))`;

export interface ConsoleRig extends AsyncDisposable {
  toolgate: RunningToolgate;
  /** A page of a browser that is signed in as the administrator, or as `user`; `null` for nobody. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** Adds a user of the workspace. */
  addUser(role: "member" | "manager" | "admin"): Promise<User>;
  /** Errors of scripts and violations of the content security policy on any page. A test ends with none. */
  problems: string[];
}

interface User {
  email: string;
  password: string;
}

interface OpenOptions extends BrowserContextOptions {
  user?: User | null;
}

/** An installation, with a Chromium that uses its console. */
export async function startConsole(setup: Setup = {}): Promise<ConsoleRig> {
  await using resources = new AsyncDisposableStack();
  const toolgate = resources.use(await runToolgate("single", setup));
  const browser = resources.adopt(await launchChromium(chromium ?? ""), (opened) => opened.close());
  const problems: string[] = [];
  const { account, baseUrl, pool } = toolgate;
  let users = 0;

  async function signIn(context: BrowserContext, { email, password }: User): Promise<void> {
    const response = await context.request.post(`${baseUrl}/session`, { data: { email, password } });
    expect(response.status()).toBe(200);
  }

  const owned = resources.move();
  return {
    toolgate,
    problems,
    async open(path, { user = account, ...options } = {}) {
      const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
      await context.addInitScript(REPORT_VIOLATIONS);
      if (user) await signIn(context, user);
      const page = await context.newPage();
      page.setDefaultTimeout(DEADLINE_MS);
      page.on("pageerror", (error) => problems.push(error.message));
      page.on("console", (message) => {
        // A refused call is not a fault of the page.
        if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
          problems.push(message.text());
      });
      await page.goto(`${baseUrl}/manage${path}`);
      return page;
    },
    async addUser(role) {
      users += 1;
      const user = { email: `${role}-${users}-${account.email}`, password: "another password" };
      await provision(pool, { workspace: account.workspace, ...user, role });
      return user;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
