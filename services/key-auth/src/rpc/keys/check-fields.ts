import type { Expiry } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import { formatNetwork, parseNetwork } from "@toolgate/ip-address/network";
import { nameFault } from "@toolgate/rules/name";
import { requestTime } from "@toolgate/service-host/time";
import type { Tools } from "../../clients/tools.ts";
import {
  endOfDay,
  MAX_LIMIT,
  MAX_NAME_CHARACTERS,
  MAX_NETWORKS,
  MAX_OVERLAP_S,
  MAX_TOOLS,
  MIN_LIMIT,
} from "../../domain/key.ts";
import { invalid } from "../errors.ts";

/** [KEY-1] Trims the name. */
export function checkedName(name: string): string {
  const trimmed = name.trim();
  const fault = nameFault(trimmed, MAX_NAME_CHARACTERS);
  if (fault) throw invalid("name", fault);
  return trimmed;
}

/** [KEY-5] */
export function checkedLimit(limit: number): number {
  if (limit < MIN_LIMIT || limit > MAX_LIMIT) throw invalid("limit", `must be ${MIN_LIMIT} to ${MAX_LIMIT}`);
  return limit;
}

/** [KEY-6] Null: never expires. A time in the past is accepted: the key has then expired. */
export function checkedExpiry(expiry: Expiry): Date | null {
  if (expiry.at.case === "timestamp") return requestTime("expiry.timestamp", expiry.at.value) ?? null;
  if (expiry.at.case !== "date") return null;
  const end = endOfDay(expiry.at.value);
  if (!end) throw invalid("expiry.date", "must be a date such as 2026-12-31");
  return end;
}

/** [KEY-2] Tools that are added must be released; tools that the key already lists may stay. */
export async function checkedTools(
  names: string[],
  listed: readonly string[],
  workspaceId: string,
  tools: Tools,
): Promise<string[]> {
  const unique = [...new Set(names)];
  if (unique.length > MAX_TOOLS) throw invalid("tools", `at most ${MAX_TOOLS}`);
  const added = unique.filter((name) => !listed.includes(name));
  const released = await tools.released(workspaceId, added);
  const refused = added.filter((name) => !released.has(name));
  if (refused.length > 0) throw invalid("tools", `not released for keys: ${refused.join(", ")}`);
  return unique;
}

/** Normalized and without duplicates. */
export function checkedNetworks(texts: string[]): string[] {
  const networks = new Set<string>();
  for (const text of texts) {
    const network = parseNetwork(text);
    if ("fault" in network) throw invalid("allowed_networks", `${text.slice(0, 100)}: ${network.fault}`);
    networks.add(formatNetwork(network));
  }
  if (networks.size > MAX_NETWORKS) throw invalid("allowed_networks", `at most ${MAX_NETWORKS}`);
  return [...networks];
}

export function checkedOverlap(seconds: number): number {
  if (seconds > MAX_OVERLAP_S) throw invalid("overlap_seconds", `must be 0 to ${MAX_OVERLAP_S}`);
  return seconds;
}
