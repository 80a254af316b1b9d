import { setTimeout as sleep } from "node:timers/promises";
import { type AttackKind, attackSource } from "../../../../services/sandbox/test/kinds/kinds.ts";
import { SLOW_SOURCES } from "../../../../services/sandbox/test/kinds/sources.ts";
import type { RunningToolgate } from "../running-toolgate.ts";
import { type AttackedWorkspace, addWorkspace } from "./workspaces.ts";

const TOOLS = 16;
const HELPER = { external_api: true, handler: "export default () => 1;" };
const PARAMETERS = { type: "object", properties: { first: { type: "boolean" } } };
const CALL_TIMEOUT_MS = 300_000;
const TOO_MANY_REQUESTS = 429;

/** What the attacker got for one call. */
export interface AttackCall {
  kind: AttackKind;
  /** 0: no response. */
  status: number;
  /** Why there is no response. */
  failure?: string;
}

export interface Attacker {
  /**
   * Runs every kind once through 16 tools at the same time, saving a new version for each. Meanwhile a second workspace saves
   * sources that take long to check, one after another.
   */
  attack(kinds: readonly AttackKind[]): Promise<AttackCall[]>;
}

/** One workspace that attacks as anybody could: it saves tools through the management API and calls them with its key. */
export async function startAttacker(toolgate: RunningToolgate): Promise<Attacker> {
  const workspace = await addWorkspace(toolgate, "attacker");
  await workspace.saveTool("x", HELPER);
  const accomplice = await addWorkspace(toolgate, "accomplice");
  const names = Array.from({ length: TOOLS }, (_, n) => `bomb-${n}`);
  for (const name of names) await workspace.saveTool(name, HELPER);
  const secret = await workspace.createKey(names);
  return {
    async attack(kinds) {
      const calls: AttackCall[] = [];
      let next = 0;
      const tool = async (name: string) => {
        for (let kind = kinds[next]; kind !== undefined; kind = kinds[next]) {
          next += 1;
          const response = await attackOnce(toolgate, workspace, { name, secret, number: next, body: kind.body });
          calls.push({ kind, ...response });
        }
      };
      let isOver = false;
      const saves = saveSlowSources(accomplice, () => isOver);
      await Promise.all(names.map(tool));
      isOver = true;
      await saves;
      return calls;
    },
  };
}

async function attackOnce(
  { request }: RunningToolgate,
  { saveTool }: AttackedWorkspace,
  { name, secret, number, body }: { name: string; secret: string; number: number; body: string },
): Promise<Omit<AttackCall, "kind">> {
  try {
    await saveTool(name, { external_api: true, parameters: PARAMETERS, handler: attackSource(body, number) });
    const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
    for (;;) {
      const { status, headers } = await request(`/api/v1/tools/${name}`, {
        method: "POST",
        headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
        body: JSON.stringify({ args: { first: number % 2 === 0 } }),
        signal,
      });
      if (status !== TOO_MANY_REQUESTS) return { status };
      // It is to go off none the less.
      await sleep(Number(headers.get("retry-after")) * 1_000, undefined, { signal });
    }
  } catch (error) {
    return { status: 0, failure: String(error) };
  }
}

async function saveSlowSources({ saveTool }: AttackedWorkspace, isOver: () => boolean): Promise<void> {
  const sources = Object.values(SLOW_SOURCES);
  for (let n = 0; !isOver(); n += 1) {
    const handler = `${sources[n % sources.length]}// ${n}`;
    // Most are refused.
    await saveTool("slow", { external_api: true, handler }).catch(() => {});
  }
}
