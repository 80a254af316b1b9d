import { ACCOUNT } from "../../text/en/account.ts";

/** In this order, because each browser also names those that it resembles. */
const BROWSERS = [
  [/Edg/, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
] as const;
const SYSTEMS = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
] as const;

/** "Firefox on Linux" for the User-Agent of a browser; any other text as it is. */
export function deviceName(userAgent: string): string {
  const [browser, system] = [BROWSERS, SYSTEMS].map((names) => names.find(([form]) => form.test(userAgent))?.[1]);
  if (browser && system) return ACCOUNT.on(browser, system);
  return userAgent || ACCOUNT.unknown;
}
