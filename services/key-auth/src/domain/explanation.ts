import { isInNetworks, type Network } from "@toolgate/ip-address/network";
import { type KeyStatus, statusOf } from "./key.ts";

interface GateVerdict {
  gate: string;
  passes: boolean;
  explanation: string;
}

/** Everything that decides on a call, at this moment. */
export interface CallFacts {
  key: { expiresAt: Date | null; revokedAt: Date | null; limit: number; tools: readonly string[] };
  networks: readonly Network[];
  /** Empty: the networks are not checked. */
  clientIp: string;
  /** Calls counted in this minute; undefined when Redis did not respond. */
  used: number | undefined;
  workspaceLocked: boolean;
  tool: string;
  release: { exists: boolean; released: boolean; releasedWithoutEffect: boolean; async: boolean };
  now: Date;
}

const KEY_STATUS: Record<KeyStatus, string> = {
  active: "The key is active.",
  revoked: "The key is revoked, which cannot be undone: create a new key.",
  expired: "The key has expired: change or remove its expiry date.",
};

/** The verdict of every gate, and the status that the call would get; 200 if the tool would run. */
export function explainCall(facts: CallFacts): { gates: GateVerdict[]; status: number } {
  const gates = judgedGates(facts);
  const status = gates.find(({ passes }) => !passes)?.refusal ?? 200;
  return { gates: gates.map(({ refusal: _, ...verdict }) => verdict), status };
}

/** In the order in which a call is checked, each with the status of its refusal. */
function judgedGates(facts: CallFacts): (GateVerdict & { refusal: number })[] {
  const { key, workspaceLocked, tool, release, now } = facts;
  const status = statusOf(key, now);
  const isListed = key.tools.includes(tool);
  return [
    { gate: "key_active", refusal: 401, passes: status === "active", explanation: KEY_STATUS[status] },
    { gate: "network", refusal: 401, ...explainNetwork(facts) },
    { gate: "limit", refusal: 429, ...explainLimit(facts) },
    {
      gate: "workspace_unlocked",
      refusal: 403,
      passes: !workspaceLocked,
      explanation: workspaceLocked
        ? "The workspace is locked: ask the operator of the installation to unlock it."
        : "The workspace is not locked.",
    },
    { gate: "tool_released", refusal: 403, passes: release.exists && release.released, explanation: releaseOf(facts) },
    {
      gate: "tool_listed",
      refusal: 403,
      passes: isListed,
      explanation: isListed ? "The key lists the tool." : "The key does not list the tool: add it to the key's tools.",
    },
    {
      gate: "tool_not_async",
      refusal: 403,
      passes: !release.async,
      explanation: release.async ? "The tool is async: keys cannot call async tools." : "The tool is not async.",
    },
  ];
}

function explainNetwork({ networks, clientIp }: CallFacts) {
  if (networks.length === 0) return { passes: true, explanation: "The key may be used from anywhere." };
  if (clientIp === "") return { passes: true, explanation: "Not checked: no address was given." };
  const passes = isInNetworks(networks, clientIp);
  return {
    passes,
    explanation: passes
      ? `${clientIp} is in one of the key's networks.`
      : `${clientIp} is outside the key's networks: add its network, or call from another address.`,
  };
}

function explainLimit({ key, used }: CallFacts) {
  if (used === undefined) return { passes: true, explanation: "Unknown: the calls of this minute could not be read." };
  const passes = used < key.limit;
  const count = `${used} of ${key.limit} calls of this minute are used`;
  return { passes, explanation: passes ? `${count}.` : `${count}: wait for the next minute, or raise the limit.` };
}

function releaseOf({ tool, release }: CallFacts): string {
  if (!release.exists) return `There is no tool ${tool}: check the spelling, including upper and lower case.`;
  if (release.released) return "The tool is released: external_api is true.";
  return release.releasedWithoutEffect
    ? "The tool is not released: external_api is set, but only the value true releases a tool."
    : "The tool is not released: set external_api to true.";
}
