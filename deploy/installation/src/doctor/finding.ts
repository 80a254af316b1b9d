import type { Env } from "@toolgate/service-host/env";
import type { ServerUser } from "@toolgate/service-registry/server-users";
import type { Need } from "@toolgate/service-registry/service-entry";

/** The processes that log in as one user, and what they are given. */
export type Member = { readonly user: ServerUser; readonly env: Env; readonly needs: readonly Need[] };

/** What is looked at, in the order in which problems should be put right, and what to do about a problem. */
export const REMEDIES = {
  settings: "Correct the variable: docs/operators.md, Settings.",
  servers: "Check that the server runs, its configuration, and the address and password with which services log in.",
  schema: "Run deploy/installation/src/migrate-main.ts of this version, with LOGINS, as the database's administrator.",
  permissions:
    "Give each service a login of its own: run logins-main.ts, copy its users to the servers, and run the migrations.",
  streams:
    "Services create what is missing at their start. To replace a stream that differs, stop all services, delete it with `nats stream rm`, and start them.",
  data: "docs/backup.md says how to restore keys; docs/operators.md, What to watch, has the query for such messages.",
  processes: "Start the process or correct its address; its log and /readyz on OPS_PORT say why it is not ready.",
} as const;
export type Check = keyof typeof REMEDIES;
const CHECKS = Object.keys(REMEDIES) as Check[];

/** Something that is wrong in an installation, in words for its operator. Never contains a secret. */
export type Finding = { readonly check: Check; readonly problem: string };

export type Findings = ReturnType<typeof createFindings>;

/** Longest wait for a response: a busy machine is no fault. */
export const RESPONSE_MS = 20_000;
/** In an address that a library's message quotes. */
const PASSWORD = /:\/\/[^\s@]*@/g;

/** Takes each finding once, however many services have it. */
export function createFindings() {
  const found = new Map<string, Finding>();
  return {
    add(check: Check, text: string): void {
      const problem = text.replace(PASSWORD, "://…@");
      found.set(`${check} ${problem}`, { check, problem });
    },
    list: (): Finding[] => [...found.values()].toSorted((a, b) => CHECKS.indexOf(a.check) - CHECKS.indexOf(b.check)),
  };
}

/** What an error says; one for a host with several addresses has no message of its own. */
export function messageOf(error: unknown): string {
  const { message, code, errors } = error as { message?: string; code?: string; errors?: unknown[] };
  return message || (errors?.[0] ? messageOf(errors[0]) : undefined) || code || "unknown";
}
