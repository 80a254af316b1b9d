import type { Env } from "@toolgate/service-host/env";
import { checkCertificates } from "./certificates.ts";
import { createClocks } from "./clocks.ts";
import { CHECKS, createFindings, type Finding, type Findings, messageOf } from "./finding.ts";
import { type Installation, installationOf, secretsIn } from "./installation.ts";
import { checkNats } from "./nats.ts";
import { checkPostgres } from "./postgres.ts";
import { checkProcesses } from "./processes.ts";
import { checkRedis } from "./redis.ts";
import { checkSettings } from "./settings.ts";
import { SUPPORTED, type Supported } from "./versions.ts";

/** How often it looks at what may pass, such as a server that is restarting. */
const LOOKS = 3;
const MAY_PASS: readonly Finding["check"][] = ["servers", "clocks", "streams", "processes"];

/**
 * Examines the installation that this environment describes, in which `LOGINS` and all settings are those of the services.
 * Changes nothing. Returns what is wrong each time that it looks, in the order in which it should be put right. `supported`
 * has the oldest versions of the servers that are no problem.
 */
export async function examine(env: Env, now = Date.now, supported = SUPPORTED): Promise<Finding[]> {
  let findings = await look(env, now, supported);
  for (let looks = 1; looks < LOOKS && findings.some(mayPass); looks += 1) {
    const before = new Set(findings.map(keyOf));
    findings = (await look(env, now, supported)).filter((finding) => before.has(keyOf(finding)));
  }
  return findings;
}

function mayPass({ check, problem }: Finding): boolean {
  return MAY_PASS.includes(check) || /time|respon/.test(problem);
}

/** Without numbers that differ at each look, such as how much a clock is behind. */
function keyOf({ check, problem }: Finding): string {
  return `${check} ${problem.replace(/\d+ (?:s|messages) /g, "")}`;
}

async function look(env: Env, now: () => number, supported: Supported): Promise<Finding[]> {
  let installation: Installation;
  try {
    installation = installationOf(env);
  } catch (error) {
    const findings = createFindings(secretsIn(env));
    findings.add(
      "settings",
      `the folder of LOGINS cannot be read: ${messageOf(error)}`,
      "Make it with logins-main.ts.",
    );
    return findings.list();
  }
  const findings: Findings = createFindings(
    [env, ...installation.members.map((member) => member.env)].flatMap(secretsIn),
  );
  const clocks = createClocks(now, findings);
  await checkSettings(installation, findings);
  await Promise.all([
    checkPostgres(installation, clocks, supported, findings),
    checkRedis(installation, clocks, supported, findings),
    checkNats(installation, supported, findings),
    checkCertificates(installation, now, findings),
    checkProcesses(installation, clocks, findings),
  ]);
  return findings.list();
}

/** The findings as text for a terminal. */
export function report(findings: readonly Finding[]): string {
  if (findings.length === 0) return `No problems found (checked: ${CHECKS.join(", ")}).`;
  const lines = findings.flatMap(({ check, problem, remedy }) => [`${check}: ${problem}`, `    What to do: ${remedy}`]);
  const count = findings.length === 1 ? "1 problem" : `${findings.length} problems`;
  return [...lines, "", `${count} found.`].join("\n");
}
