import type { Findings } from "./finding.ts";

/** The oldest versions with which Toolgate is tested. */
export const SUPPORTED: Supported = { PostgreSQL: "15.0", NATS: "2.9", Redis: "6.2" };

export type Supported = Readonly<Record<"PostgreSQL" | "NATS" | "Redis", string>>;

/** Reports a server that is older than supported; one that does not say its version passes. */
export function checkVersion(
  server: keyof Supported,
  version: string | undefined,
  supported: Supported,
  findings: Findings,
): void {
  const minimum = supported[server];
  if (!version || reaches(version, minimum)) return;
  findings.add(
    "servers",
    `${server} is version ${version}, and Toolgate needs ${minimum} or newer`,
    `Upgrade ${server}: docs/operators.md has the versions that are supported.`,
  );
}

/** By the first two numbers. */
function reaches(version: string, minimum: string): boolean {
  const [major = 0, minor = 0] = numbersIn(version);
  const [least = 0, leastMinor = 0] = numbersIn(minimum);
  return major > least || (major === least && minor >= leastMinor);
}

const numbersIn = (text: string) => (text.match(/\d+/g) ?? []).map(Number);
