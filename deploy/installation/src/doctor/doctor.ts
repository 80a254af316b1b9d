import type { Env } from "@toolgate/service-host/env";
import { SERVER_USERS } from "@toolgate/service-registry/server-users";
import { SERVICE_NAMES, SERVICES, serviceEntry, urlVariable } from "@toolgate/service-registry/services";
import { loginsIn } from "../logins.ts";
import { createFindings, type Finding, type Member, messageOf, REMEDIES } from "./finding.ts";
import { checkNats } from "./nats.ts";
import { checkPostgres } from "./postgres.ts";
import { checkProcesses } from "./processes.ts";
import { checkRedis } from "./redis.ts";
import { checkSettings } from "./settings.ts";

/**
 * Examines the installation that this environment describes, in which `LOGINS` and all settings are those of the services.
 * Changes nothing. Returns what is wrong, in the order in which it should be put right.
 */
export async function examine(env: Env): Promise<Finding[]> {
  let logins: ReturnType<typeof loginsIn>;
  try {
    logins = env.LOGINS ? loginsIn(env.LOGINS) : {};
  } catch (error) {
    return [{ check: "settings", problem: `the folder of LOGINS cannot be read: ${messageOf(error)}` }];
  }
  const members = SERVER_USERS.map((user): Member => {
    const { needs, roles } = serviceEntry(user.service);
    const ofRole = user.role === undefined ? undefined : roles?.[user.role]?.needs;
    const own = { ...env, ...logins[user.name], ROLES: user.role };
    return { user, env: own, needs: ofRole ?? needs };
  });
  const findings = createFindings();
  checkSettings(
    members,
    SERVICE_NAMES.some((name) => SERVICES[name].rpcs.length > 0 && Boolean(env[urlVariable(name)])),
    findings,
  );
  await Promise.all([
    checkPostgres(members, findings),
    checkRedis(members, findings),
    checkNats(members, findings),
    checkProcesses(env, members, findings),
  ]);
  return findings.list();
}

/** The findings as text for a terminal. */
export function report(findings: readonly Finding[]): string {
  if (findings.length === 0) return `No problems found (checked: ${Object.keys(REMEDIES).join(", ")}).`;
  const lines = findings.flatMap(({ check, problem }, index) => {
    const isLast = findings[index + 1]?.check !== check;
    return [`${check}: ${problem}`, ...(isLast ? [`    What to do: ${REMEDIES[check]}`] : [])];
  });
  return [...lines, "", findings.length === 1 ? "1 problem found." : `${findings.length} problems found.`].join("\n");
}
