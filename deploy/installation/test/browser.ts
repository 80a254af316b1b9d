import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const PROGRAMS = ["chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** The Chromium of this machine: CHROMIUM_PATH, or one in PATH. Undefined when there is none. */
export function findChromium({ CHROMIUM_PATH, PATH = "" }: NodeJS.ProcessEnv = process.env): string | undefined {
  if (CHROMIUM_PATH) return CHROMIUM_PATH;
  return PATH.split(delimiter)
    .flatMap((folder) => PROGRAMS.map((program) => join(folder, program)))
    .find((path) => existsSync(path));
}

/** On a busy machine. */
const START_WITHIN_MS = 180_000;

/** The sandbox does not start for root, and in containers tests run as root. */
export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
    timeout: START_WITHIN_MS,
  });
}
