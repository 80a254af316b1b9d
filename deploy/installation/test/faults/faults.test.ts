import { writeFile } from "node:fs/promises";
import { type Bus, connectBus } from "@toolgate/event-bus/connect";
import type { Pool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { type Random, seededRandom, shuffled } from "@toolgate/testbed/random";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";
import { type Arrivals, type LoggedRows, readArrivals, readLogs } from "./evidence.ts";
import { HANG_MS, TOOLS } from "./load.ts";
import { createFaultReceivers, ENDPOINTS } from "./receivers.ts";
import { type FaultRun, runFaults } from "./run.ts";
import { callsWithoutEvent, missingFromLogs, repeatedArrivals, usageGaps } from "./tally.ts";
import {
  type CountOnBroker,
  createCountOnBroker,
  endAbandonedLeases,
  makeOutboxDue,
  makeRetriesDue,
  readLostAttempts,
  readUndelivered,
  readUnsettled,
  SETTLED,
  type Undelivered,
  type Unsettled,
} from "./unsettled.ts";
import { type Victim, victimsAtRandom, victimsAtWorst } from "./victims.ts";

/** Kills per victim: in the first round each at its worst moment, in the others at a random one. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 3);
/** Names of the victims to kill, separated by semicolons; empty: all. */
const VICTIMS = (process.env.FAULT_VICTIMS ?? "").split(";").filter((name) => name !== "");
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** Where to write the logs of the services and their supervisors. */
const LOG_FILE = process.env.FAULT_LOG;
const MS_PER_ROUND = 300_000;
const SETTLE_DEADLINE_MS = 120_000;
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
const WEBHOOK_ROLES = { manager: 1, "fan-out": 1, dispatcher: 2, worker: 2 };

describe(`killing every process in turn under load (seed ${SEED}, ${ROUNDS} rounds)`, () => {
  const random = seededRandom(SEED);
  const lines: string[] = [];
  let toolgate: RunningToolgate;
  let bus: Bus;
  let run: FaultRun;
  let logs: LoggedRows;
  let arrivals: Arrivals;
  let undelivered: Undelivered[];
  let unsettled: Unsettled;

  beforeAll(
    async () => {
      const log = (line: string) => void lines.push(`${new Date().toISOString()} ${line}`);
      const replicas = { "key-auth": 2 };
      toolgate = await runToolgate("split", {
        ownPostgres: true,
        replicas,
        roles: { "outbound-webhook": WEBHOOK_ROLES },
        log,
      });
      bus = await connectBus({ servers: toolgate.nats.url, name: "fault test" });
      for (const [name, tool] of Object.entries(TOOLS)) {
        const parameters = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
        await toolgate.saveTool(name, { external_api: true, parameters, ...tool });
      }
      const receivers = createFaultReceivers();
      toolgate.receiver.behave(receivers.behave);
      const secrets = new Map<string, string>();
      for (const [path, events] of Object.entries(ENDPOINTS)) {
        secrets.set(path, (await toolgate.createEndpoint([...events], path)).secret);
      }
      run = await runFaults(toolgate, inOrder(toolgate, random), random, log);
      const countOnBroker = createCountOnBroker(bus);
      await settle(toolgate, countOnBroker, run);
      logs = await readLogs(toolgate.pool);
      arrivals = readArrivals(toolgate.receiver.requests, secrets, receivers.refused);
      undelivered = await readUndelivered(toolgate.pool);
      unsettled = await readUnsettled(toolgate.pool, countOnBroker);
    },
    START_DEADLINE_MS + SETTLE_DEADLINE_MS + ROUNDS * MS_PER_ROUND,
  );
  afterAll(async () => {
    if (LOG_FILE) await writeFile(LOG_FILE, lines.join("\n"));
    await bus?.[Symbol.asyncDispose]();
    await toolgate?.[Symbol.asyncDispose]();
  });

  test("every call gets a response or is cut off in time, and none is wrongly refused", () => {
    expect(run.calls.filter(({ status }) => status === -1)).toEqual([]);
    const slow = run.calls.filter(({ sentAtMs, endedAtMs }) => endedAtMs - sentAtMs > HANG_MS);
    expect(slow).toEqual([]);
    const wrong = run.calls.filter(
      ({ n, tool, status, text }) =>
        status > 0 &&
        status !== 500 &&
        !(status === 200 && JSON.parse(text).n === n) &&
        // Its event could not be accepted, and the tool got an error.
        !(status === 400 && tool === "emitter" && text.includes("Tool konnte nicht ausgefuehrt werden")),
    );
    expect(wrong).toEqual([]);
  });

  test("only what is killed ends: all others survive and work again without help", () => {
    expect(run.bystandersLost).toEqual([]);
    expect(run.notRecovered).toEqual([]);
  });

  test("[LOG-2] [LOG-10] each call with a response is in both logs, except some of the last second before the broker was wiped", () => {
    expect(missingFromLogs(run.calls, logs, run.faults)).toEqual([]);
  });

  test("[LOG-2] [LOG-10] no call is logged twice, none ran twice, and no call is logged that was never made", () => {
    const surplus = run.phases.filter((phase) => {
      const { extra, withoutResponse } = usageGaps(run.calls, logs, phase);
      return extra > withoutResponse;
    });
    expect(surplus).toEqual([]);
    expect([...logs.runs].filter(([, { rows }]) => rows > 1)).toEqual([]);
    const made = new Set(run.calls.map(({ n }) => n));
    expect([...logs.runs.keys()].filter((n) => !made.has(n))).toEqual([]);
  });

  test("[KEY-12] each key's counter equals its number of log rows", () => {
    const rows = new Map(run.phases.map(({ key }) => [key.id, 0]));
    for (const [name, count] of logs.usage) {
      const [keyId = "", , status] = name.split(" ");
      if (status !== "429") rows.set(keyId, (rows.get(keyId) ?? 0) + count);
    }
    expect(logs.totals).toEqual(rows);
  });

  test("[EVT-8] [EVT-55] each event of a call with a response arrives, signed, under one event id", () => {
    expect(arrivals.forged).toBe(0);
    const lostCalls = callsWithoutEvent(run.calls, arrivals).map(({ n, tool }) => ({
      n,
      tool,
      log: undelivered.filter((delivery) => delivery.n === n),
    }));
    expect(lostCalls).toEqual([]);
    const ids = [...arrivals.events].flatMap(([place, calls]) =>
      [...calls].filter(([, found]) => found.size > 1).map(([n]) => `${place} ${n}`),
    );
    expect(ids).toEqual([]);
  });

  test("[OUT-43] [OUT-57] nothing is left over: every delivery is delivered, and slots and outbox are empty", () => {
    expect(undelivered).toEqual([]);
    expect(unsettled).toEqual(SETTLED);
  });

  test("[OUT-57] a kill repeats at most the deliveries that were under way", () => {
    expect(repeatedArrivals(arrivals)).toBeLessThanOrEqual(MAX_REPEATED_A_KILL * run.faults.length);
  });

  test("[OUT-43] whatever is killed, events arrive again within seconds", () => {
    const times = toolgate.receiver.requests.map(({ receivedAtMs }) => receivedAtMs);
    const silences = times.slice(1).map((atMs, index) => atMs - (times[index] ?? 0));
    expect(Math.max(...silences)).toBeLessThanOrEqual(MAX_SILENCE_MS);
  });

  test("[OUT-45] no fault of the installation uses up an attempt of a delivery", async () => {
    expect(await readLostAttempts(toolgate.pool)).toEqual([]);
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

/**
 * Waits until nothing is under way any more, two minutes at most; the tests then report what is left.
 */
async function settle({ pool }: RunningToolgate, countOnBroker: CountOnBroker, run: FaultRun): Promise<void> {
  const settled = async () => {
    const left = await readUnsettled(pool, countOnBroker);
    await hurry(pool, left);
    expect(left).toEqual(SETTLED);
    expect(missingFromLogs(run.calls, await readLogs(pool), run.faults)).toEqual([]);
  };
  await eventually(settled, { deadlineMs: SETTLE_DEADLINE_MS, everyMs: 200 }).catch(() => {});
}

/** Makes everything due that is waiting only for its time. */
async function hurry(pool: Pool, { onBroker }: Unsettled): Promise<void> {
  await makeRetriesDue(pool);
  await makeOutboxDue(pool);
  if (onBroker === 0) await endAbandonedLeases(pool);
}
