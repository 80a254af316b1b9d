/** Something that is wrong in an installation, in words for its operator. Never contains a secret. */
export interface Finding {
  readonly check: Check;
  readonly problem: string;
  /** What the operator should do. */
  readonly remedy: string;
}

export const CHECKS = [
  "settings",
  "servers",
  "certificates",
  "clocks",
  "schema",
  "permissions",
  "streams",
  "retention",
  "data",
  "processes",
] as const;
export type Check = (typeof CHECKS)[number];

/** Longest wait for a response: a busy machine is no fault. */
export const RESPONSE_MS = 20_000;

/** Takes each finding once, however many services have it. */
export interface Findings {
  add(check: Check, problem: string, remedy: string): void;
  list(): Finding[];
}

const MIN_SECRET_CHARACTERS = 8;

/** `secrets` are removed from all texts: messages of servers and libraries are not under control of this code. */
export function createFindings(secrets: readonly string[]): Findings {
  const found = new Map<string, Finding>();
  const hidden = secrets.filter((secret) => secret.length >= MIN_SECRET_CHARACTERS);
  const clean = (text: string) => hidden.reduce((rest, secret) => rest.replaceAll(secret, "…"), text);
  return {
    add(check, problem, remedy) {
      const finding = { check, problem: clean(problem), remedy: clean(remedy) };
      found.set(`${check} ${finding.problem}`, finding);
    },
    list: () => [...found.values()].toSorted((a, b) => CHECKS.indexOf(a.check) - CHECKS.indexOf(b.check)),
  };
}

/** What an error says; one for a host with several addresses has no message of its own. */
export function messageOf(error: unknown): string {
  const { message, code, errors } = error as { message?: string; code?: string; errors?: unknown[] };
  return message || (errors?.[0] ? messageOf(errors[0]) : undefined) || code || "unknown";
}
