import { writeFile } from "node:fs/promises";
import { connectBus } from "@toolgate/event-bus/connect";
import { eventually } from "@toolgate/testbed/eventually";
import { type Random, seededRandom, shuffled } from "@toolgate/testbed/random";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HANG_MS } from "../load/calls.ts";
import { type Arrivals, type LoggedRows, readArrivals, readLogs } from "../load/evidence.ts";
import {
  brokenHookCalls,
  failedCalls,
  missingEvents,
  missingFromLogs,
  repeatedEvents,
  surplusInLogs,
} from "../load/tally.ts";
import { hurry, SETTLE_DEADLINE_MS, SETTLED, settle } from "../load/unsettled.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { type FaultRun, runFaults } from "./run.ts";
import { type Victim, victimsAtRandom, victimsAtWorst } from "./victims.ts";

/** Kills per victim: in the first round each at its worst moment, in the others at a random one. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 3);
/** Names of the victims to kill, separated by semicolons; empty: all. */
const VICTIMS = (process.env.FAULT_VICTIMS ?? "").split(";").filter((name) => name !== "");
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** Where to write the logs of the services and their supervisors. */
const LOG_FILE = process.env.FAULT_LOG;
const MS_PER_ROUND = 400_000;
const START_DEADLINE_MS = 60_000;
/** A crash may repeat what was under way, and no more than that. */
const MAX_REPEATED_A_KILL = 2;
const CALLS_AFTERWARDS = 12;
/** The longest time in which no endpoint gets anything, while calls are made all the time. */
const MAX_SILENCE_MS = 20_000;
/**
 * The first round begins with victims whose work is repeated only after a lease or an ack wait, so that this time
 * passes while the others are killed; a wipe comes before victims that leave call records in the broker.
 */
const FIRST = [/NATS wiped/, /writing/, /dispatcher|worker|tool-runner/, /NATS|PostgreSQL/, /./];
const ROLES = {
  "outbound-webhook": { manager: 1, "fan-out": 1, dispatcher: 2, worker: 2 },
  "inbound-hook": { receiver: 2, runner: 2 },
};

describe(`killing every process in turn under load (seed ${SEED}, ${ROUNDS} rounds)`, () => {
  const random = seededRandom(SEED);
  const lines: string[] = [];
  let toolgate: RunningToolgate;
  let run: FaultRun;
  let logs: LoggedRows;
  let arrivals: Arrivals;
  let unsettled: typeof SETTLED;

  beforeAll(
    async () => {
      const log = (line: string) => void lines.push(`${new Date().toISOString()} ${line}`);
      // Senders are faster than three runs at a time while a backlog is worked off.
      const env = { RUNS_PER_WORKSPACE: "16" };
      toolgate = await runToolgate("split", {
        ownPostgres: true,
        replicas: { "key-auth": 2 },
        roles: ROLES,
        env,
        log,
      });
      const { pool } = toolgate;
      run = await runFaults(toolgate, inOrder(toolgate, random), random, log);
      await using bus = await connectBus({ servers: toolgate.nats.url, name: "fault test" });
      unsettled = await settle({ pool, bus }, run, hurry);
      logs = await readLogs(pool);
      arrivals = readArrivals(toolgate.receiver.requests, run.workspace);
    },
    START_DEADLINE_MS + SETTLE_DEADLINE_MS + ROUNDS * MS_PER_ROUND,
  );
  afterAll(async () => {
    if (LOG_FILE) await writeFile(LOG_FILE, lines.join("\n"));
    await toolgate?.[Symbol.asyncDispose]();
  });

  test("[IN-22] every call gets a response or is cut off in time, and none is wrongly refused", () => {
    expect(run.calls.filter(({ status }) => status === -1)).toEqual([]);
    const slow = run.calls.filter(({ sentAtMs, endedAtMs }) => endedAtMs - sentAtMs > HANG_MS);
    expect(slow).toEqual([]);
    const wrong = failedCalls(run.calls).filter(
      ({ tool, status, text }) =>
        status > 0 &&
        status !== 500 &&
        // Its event could not be accepted, and the tool got an error.
        !(status === 400 && tool === "emitter" && text.includes("Tool konnte nicht ausgefuehrt werden")),
    );
    expect(wrong).toEqual([]);
    const allowed = [0, 200, 202, 500, 503];
    expect(run.hookCalls.filter(({ statuses }) => statuses.some((one) => !allowed.includes(one)))).toEqual([]);
  });

  test("only what is killed ends: all others survive and work again without help", () => {
    expect(run.bystandersLost).toEqual([]);
    expect(run.notRecovered).toEqual([]);
  });

  test("[LOG-2] [LOG-10] each call with a response is in both logs, except some of the last second before the broker was wiped", () => {
    expect(missingFromLogs(run.calls, logs, run.wipesMs)).toEqual([]);
  });

  test("[LOG-2] [LOG-10] no call is logged twice, none ran twice, and no call is logged that was never made", () => {
    expect(surplusInLogs(run.calls, run.hookCalls, logs)).toEqual([]);
  });

  test("[KEY-12] the key's counter equals its number of log rows", async () => {
    const { rows } = await toolgate.pool.query(
      `select calls_total::int as total,
         (select count(*)::int from key_auth.api_key_requests r where r.key_id = k.id and r.status <> 429) as rows
       from key_auth.keys k where id = $1`,
      [run.workspace.key.id],
    );
    expect(rows[0].total).toBe(rows[0].rows);
  });

  test("[EVT-8] [EVT-55] each event of a call with a response arrives, signed, under one event id", () => {
    expect(arrivals.forged).toBe(0);
    expect(missingEvents(run.calls, run.hookCalls, logs, arrivals)).toEqual([]);
    expect([...arrivals.events].filter(([, ids]) => new Set(ids).size > 1)).toEqual([]);
  });

  test("[IN-22] [IN-23] [IN-24] [IN-33] every accepted call of a hook is stored once, and has run once or the log says why not", () => {
    expect(brokenHookCalls(run.hookCalls, logs, arrivals)).toEqual([]);
  });

  test("[OUT-43] [OUT-57] nothing is left over: every delivery is delivered, and queues, slots and outbox are empty", () => {
    expect(unsettled).toEqual(SETTLED);
  });

  test("[OUT-57] a kill repeats at most the deliveries that were under way", () => {
    expect(repeatedEvents(arrivals).length).toBeLessThanOrEqual(MAX_REPEATED_A_KILL * run.kills);
  });

  test("[OUT-43] whatever is killed, events arrive again within seconds", () => {
    const { timesMs } = arrivals;
    const silences = timesMs.slice(1).map((atMs, index) => atMs - (timesMs[index] ?? 0));
    expect(Math.max(...silences)).toBeLessThanOrEqual(MAX_SILENCE_MS);
  });

  test("[OUT-45] no fault of the installation uses up an attempt of a delivery: receivers' 500s alone do", async () => {
    const { rows } = await toolgate.pool.query(
      `select delivery_id as delivery, error from outbound_webhook.attempt
       where response_code not between 200 and 299 and response_code <> 500 order by delivery_id, number`,
    );
    expect(rows).toEqual([]);
  });

  test("[KEY-21] [LIMIT-4] afterwards the replicas share one count again and agree on a revocation", async () => {
    const { id, secret } = await toolgate.createKey({ name: "afterwards", tools: ["plain"], limit: 1_000 });
    const remaining = async () => {
      const { headers } = await toolgate.call("plain", secret, { n: 0 });
      return Number(headers.get("x-ratelimit-remaining"));
    };
    // All within one clock minute, so it may need a second try.
    await eventually(async () => {
      const first = await remaining();
      for (let call = 1; call < CALLS_AFTERWARDS; call += 1) expect(await remaining()).toBe(first - call);
    });
    await toolgate.manage("key_auth.v1.KeyService/RevokeKey", { keyId: id });
    for (let call = 0; call < CALLS_AFTERWARDS; call += 1) {
      expect((await toolgate.call("plain", secret, { n: 0 })).status).toBe(401);
    }
  });
});

/** Every victim once per round, in random order, but the first round in the order of FIRST. */
function inOrder(toolgate: RunningToolgate, random: Random): Victim[] {
  const isChosen = ({ name }: Victim) => VICTIMS.length === 0 || VICTIMS.includes(name);
  const rank = ({ name }: Victim) => FIRST.findIndex((names) => names.test(name));
  const first = shuffled(victimsAtWorst(toolgate).filter(isChosen), random);
  const others = Array.from({ length: ROUNDS - 1 }, () => shuffled(victimsAtRandom(toolgate).filter(isChosen), random));
  return [...first.sort((one, other) => rank(one) - rank(other)), ...others.flat()];
}
