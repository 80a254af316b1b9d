import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { seededRandom, shuffled } from "@toolgate/testbed/random";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createHook } from "../../hooks/hooks.ts";
import { type RunningToolgate, runToolgate } from "../../running-toolgate.ts";
import { hookVictimsAtRandom, hookVictimsAtWorst } from "../victims.ts";
import { type HookEvidence, readEvidence } from "./evidence.ts";
import { type Senders, type SentCall, startSenders } from "./senders.ts";

/** Kills per victim: in the first round each at its worst moment, in the others at a random one. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 3);
const VICTIMS = (process.env.FAULT_VICTIMS ?? "").split(";").filter((name) => name !== "");
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** Where to write the logs of the services and their supervisors. */
const LOG_FILE = process.env.FAULT_LOG;
const MS_PER_ROUND = 240_000;
const START_DEADLINE_MS = 60_000;
const SETTLE_DEADLINE_MS = 120_000;
/** A runner that was killed may hold all slots of the workspace until its leases expire. */
const RECOVERY_DEADLINE_MS = 100_000;
/** Longest time between two faults. */
const MAX_LEAD_MS = 900;
const HOOKS = 3;

/** Tells the outside that it runs, so that a run is noticed even if its log line is lost. */
const tool = (url: string) => ({
  inbound_hook: true,
  parameters: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
  handler: `export default async ({ n }, ctx) => {
    await ctx.fetch("${url}/ran/" + n, { method: "POST" });
    return { success: true, n };
  };`,
});

describe(`killing what hooks need under load (seed ${SEED}, ${ROUNDS} rounds)`, () => {
  const random = seededRandom(SEED);
  const bystandersLost: string[] = [];
  const notRecovered: string[] = [];
  const lines: string[] = [];
  const log = (line: string) => void lines.push(`${new Date().toISOString()} ${line}`);
  let toolgate: RunningToolgate;
  let senders: Senders;
  let evidence: HookEvidence;

  const workingFor = async (since: number) =>
    eventually(
      () => {
        const accepted = senders.calls.filter(({ sentAtMs, acceptedAtMs }) => sentAtMs >= since && acceptedAtMs > 0);
        const numbers = new Set(accepted.map(({ n }) => `/ran/${n}`));
        return toolgate.receiver.requests.some(({ path }) => numbers.has(path));
      },
      { deadlineMs: RECOVERY_DEADLINE_MS },
    );

  beforeAll(
    async () => {
      const roles = { "inbound-hook": { receiver: 2, runner: 2 } };
      // Senders are faster than three runs at a time while a backlog is worked off.
      const env = { RUNS_PER_WORKSPACE: "16" };
      toolgate = await runToolgate("split", { ownPostgres: true, roles, env, log });
      await toolgate.saveTool("echo", tool(toolgate.receiver.url));
      const hooks = [];
      for (let index = 0; index < HOOKS; index += 1)
        hooks.push(await createHook(toolgate, { format: "HOOK_FORMAT_NATIVE" }));
      senders = startSenders(toolgate, hooks);
      try {
        await workingFor(0);
        const rounds = Array.from({ length: ROUNDS }, (_, round) =>
          shuffled(round === 0 ? hookVictimsAtWorst(toolgate) : hookVictimsAtRandom(toolgate), random),
        );
        for (const victim of rounds.flat().filter(({ name }) => VICTIMS.length === 0 || VICTIMS.includes(name))) {
          senders.phase += 1;
          await sleep(random() * MAX_LEAD_MS);
          const before = toolgate.processes().map(({ name, pid }) => ({ name, pid }));
          await victim.kill(random, () => {});
          const backAtMs = Date.now();
          log(`fault ${senders.phase}: ${victim.name}`);
          await workingFor(backAtMs).catch((error: Error) => notRecovered.push(`${victim.name}: ${error.message}`));
          const after = toolgate.processes();
          const ended = before.filter(({ pid }, place) => after[place]?.pid !== pid).map(({ name }) => name);
          for (const [name, count] of Object.entries(Object.groupBy(ended, (ended) => ended)))
            if ((count?.length ?? 0) > (victim.ends[name] ?? 0)) bystandersLost.push(`${victim.name}: ${name}`);
        }
      } finally {
        await senders.stop();
      }
      await settle();
      evidence = await readEvidence(toolgate.pool, toolgate.receiver.requests);
    },
    START_DEADLINE_MS + SETTLE_DEADLINE_MS + ROUNDS * MS_PER_ROUND,
  );
  afterAll(async () => {
    if (LOG_FILE) await writeFile(LOG_FILE, lines.join("\n"));
    await toolgate?.[Symbol.asyncDispose]();
  });

  /** Waits until every accepted call has ended. Nothing runs any more then, so leases can end now instead of in a minute. */
  async function settle(): Promise<void> {
    const { pool } = toolgate;
    await eventually(
      async () => {
        const { rows } = await pool.query(
          `select count(*) filter (where status = 'waiting')::int as waiting, count(*) filter (where status = 'running')::int as running
           from inbound_hook.delivery where status in ('waiting', 'running')`,
        );
        const [{ waiting, running }] = rows;
        if (waiting === 0 && running > 0) {
          await sleep(1_000);
          await pool.query(
            "update inbound_hook.tool_queue_item set lease_until = 'epoch' where lease_until is not null",
          );
        }
        return waiting === 0 && running === 0;
      },
      { deadlineMs: SETTLE_DEADLINE_MS, everyMs: 200 },
    );
  }

  const storedOf = ({ n }: SentCall) => evidence.stored.get(n) ?? [];
  const ranOf = ({ n }: SentCall) => evidence.ran.get(n)?.length ?? 0;

  test("only what is killed ends: all others survive and work again without help", () => {
    expect(bystandersLost).toEqual([]);
    expect(notRecovered).toEqual([]);
  });

  test("[IN-22] no request gets a response that it must not get", () => {
    const wrong = senders.calls.filter(({ statuses }) =>
      statuses.some((status) => ![0, 200, 202, 500, 503].includes(status)),
    );
    expect(wrong).toEqual([]);
  });

  test("[IN-22] [IN-23] every accepted call is stored once, under the id that its sender got", () => {
    const wrong = senders.calls.filter((call) => {
      const ids = storedOf(call).map(({ id }) => id);
      return ids.length !== 1 || call.deliveryIds.length !== 1 || ids[0] !== call.deliveryIds[0];
    });
    expect(wrong).toEqual([]);
    expect(senders.calls.filter(({ statuses }) => statuses.filter((status) => status === 202).length > 1)).toEqual([]);
  });

  test("[IN-24] [IN-33] every accepted call has run once, or the log says that it failed or was interrupted", () => {
    const wrong = senders.calls.filter((call) => {
      const [delivery] = storedOf(call);
      if (delivery?.runs !== 1) return true;
      if (delivery.status === "succeeded") return ranOf(call) !== 1;
      return ranOf(call) > 1 || !["failed", "interrupted"].includes(delivery.status);
    });
    expect(wrong.map((call) => ({ ...call, stored: storedOf(call), ran: ranOf(call) }))).toEqual([]);
  });

  test("[IN-58] nothing is left over: queues and slots are empty", async () => {
    const { rows } = await toolgate.pool.query(
      `select (select count(*)::int from inbound_hook.tool_queue_item) as queued,
              (select count(*)::int from inbound_hook.run where status = 'running') as running,
              (select coalesce(sum(in_flight), 0)::int from inbound_hook.tool_queue_group) as "groupsInFlight",
              (select coalesce(sum(in_flight), 0)::int from inbound_hook.tool_queue_member) as "membersInFlight"`,
    );
    expect(rows).toEqual([{ queued: 0, running: 0, groupsInFlight: 0, membersInFlight: 0 }]);
  });
});
