import type { Env } from "@toolgate/service-host/env";
import { readIdentity } from "@toolgate/service-host/identity/service-keys";
import { readHostConfig } from "@toolgate/service-host/process/host-config";
import { readPeerUrls } from "@toolgate/service-host/rpc/peers";
import { DEFINITIONS } from "../single.ts";
import { type Findings, type Member, messageOf } from "./finding.ts";

/** Every service's own parser over what the service is given. */
export function checkSettings(members: readonly Member[], isSplit: boolean, findings: Findings): void {
  const owners = new Map<string, string[]>();
  for (const member of members)
    for (const violation of new Set(violationsOf(member, isSplit)))
      owners.set(violation, [...(owners.get(violation) ?? []), member.user.name]);
  for (const [violation, names] of owners) findings.add("settings", `${violation} (for ${names.join(", ")})`);
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
      return messageOf(error).replace("configuration: ", "").split("; ");
    }
  });
}
