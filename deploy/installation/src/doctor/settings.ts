import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { Env } from "@toolgate/service-host/env";
import { publicKeyList, publicKeyOf, readIdentity } from "@toolgate/service-host/identity/service-keys";
import { readHostConfig } from "@toolgate/service-host/launch";
import { readPeerUrls } from "@toolgate/service-host/peers";
import { DEFINITIONS } from "../single.ts";
import { type Findings, messageOf } from "./finding.ts";
import type { Installation, Member } from "./installation.ts";

const PREFIX = /^configuration: /;

/** Every service's own parser over what the service is given. */
export async function checkSettings({ members, isSplit, env }: Installation, findings: Findings): Promise<void> {
  const owners = new Map<string, string[]>();
  for (const member of members) {
    for (const violation of new Set(violationsOf(member, isSplit))) {
      owners.set(violation, [...(owners.get(violation) ?? []), member.user.name]);
    }
  }
  for (const [violation, names] of owners)
    findings.add(
      "settings",
      `${violation} (for ${names.join(", ")})`,
      "Correct the variable: docs/operators.md, Settings.",
    );
  if (isSplit) checkPublicKeys(members, findings);
  await checkFolder(env, findings);
}

function violationsOf({ user, env }: Member, isSplit: boolean): string[] {
  const definition = DEFINITIONS.find(([name]) => name === user.service)?.[1];
  const readers: ((env: Env) => unknown)[] = [readHostConfig, (all) => definition?.readConfig(all)];
  if (isSplit)
    readers.push(
      (all) => readPeerUrls(all, user.service),
      (all) => readIdentity(all, user.service),
    );
  return readers.flatMap((read) => {
    try {
      read(env);
      return [];
    } catch (error) {
      return messageOf(error).replace(PREFIX, "").split("; ");
    }
  });
}

/** A service whose key the others do not know is refused by them. */
function checkPublicKeys(members: readonly Member[], findings: Findings): void {
  for (const { user, env } of members) {
    const own = keyOf(env);
    if (own === undefined) continue;
    for (const other of members) {
      const listed = publicKeyList((other.env.SERVICE_PUBLIC_KEYS ?? "").split(","));
      if (listed.length <= 1 || listed.some(([name, key]) => name === user.service && key === own)) continue;
      findings.add(
        "settings",
        `SERVICE_PUBLIC_KEYS of ${other.user.name} lacks the key of ${user.service}, whose calls it refuses`,
        "Give all services the same SERVICE_PUBLIC_KEYS: run logins-main.ts again, or docs/operators.md, Identity of services.",
      );
    }
  }
}

function keyOf(env: Env): string | undefined {
  try {
    return env.SERVICE_KEY ? publicKeyOf(env.SERVICE_KEY) : undefined;
  } catch {
    return undefined;
  }
}

async function checkFolder({ CHAT_FILES: folder }: Env, findings: Findings): Promise<void> {
  if (!folder) return;
  await access(folder, constants.R_OK | constants.W_OK).catch((error) =>
    findings.add(
      "settings",
      `the folder of CHAT_FILES cannot be used from here: ${messageOf(error)}`,
      "Create or mount it for the user of chat's processes; the doctor must run where it is mounted, as that user.",
    ),
  );
}
