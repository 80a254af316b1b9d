import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { seededRandom } from "@toolgate/testbed/random";
import { killedProcess, server, type Victim } from "../faults/victims.ts";
import { type RunningToolgate, runToolgate, type TopologyKind } from "../running-toolgate.ts";
import { type Arrival, countLost, countRepeated, longestSilence, type Span } from "./count.ts";
import { BACKLOG_EVENT, BACKLOGGED, LIVE, LIVE_EVENT, PATHS, startLoad } from "./load.ts";

/** What one kill cost. */
export interface KillCost {
  victim: string;
  /** Of the endpoints with a backlog, and of those that get what is reported meanwhile. */
  backlogSilenceMs: number;
  liveSilenceMs: number;
  /** From the kill until the part works again. */
  downMs: number;
  repeated: number;
}

export interface Measurement {
  kind: TopologyKind;
  kills: KillCost[];
  deliveries: number;
  lost: number;
}

/** Room for all endpoints of the one workspace. */
const ENV = { DELIVERIES_PER_WORKSPACE: "40", SANDBOX_CHILDREN: "1" };
const ROLES = { "outbound-webhook": { manager: 1, "fan-out": 1, dispatcher: 2, worker: 2 } };
/** Every endpoint is watched for at least this long after a kill. */
const WATCHED_MS = 12_000;
const STEADY_MS = 2_000;
/** Longer than any lease. */
const SILENCE_DEADLINE_MS = 90_000;
const SETTLE_DEADLINE_MS = 120_000;
const MAX_LEAD_MS = 1_000;

/** Kills the parts of a running installation in turn, `rounds` times, under a steady load of deliveries. */
export async function measureSilences(
  kind: TopologyKind,
  settings: {
    rounds: number;
    seed: number;
    only: readonly string[];
    log: (line: string) => void;
    logProcess: (line: string) => void;
  },
): Promise<Measurement> {
  const { rounds, seed, only, log, logProcess } = settings;
  const random = seededRandom(seed);
  const setup = { ownPostgres: true, ownProcess: true, env: ENV, log: logProcess };
  await using toolgate = await runToolgate(kind, kind === "split" ? { ...setup, roles: ROLES } : setup);
  const load = await startLoad(toolgate);
  await untilAllArrive(toolgate, Date.now());
  const victims = victimsOf(toolgate).filter(({ name }) => only.length === 0 || only.includes(name));
  const spans: (Span & { victim: string; downMs: number })[] = [];
  for (const victim of Array.from({ length: rounds }, () => victims).flat()) {
    await untilAllArrive(toolgate, Date.now() + STEADY_MS);
    await sleep(random() * MAX_LEAD_MS);
    let fromMs = Date.now();
    await victim.kill(random, () => {
      fromMs = Date.now();
    });
    const downMs = Date.now() - fromMs;
    await untilAllArrive(toolgate, fromMs + Math.max(WATCHED_MS, downMs));
    const span = { fromMs, untilMs: Date.now() };
    spans.push({ ...span, victim: victim.name, downMs });
    const silentMs = longestSilence(arrivalsOf(toolgate), PATHS, span);
    log(
      `${new Date(fromMs).toISOString()} ${kind}: ${victim.name} killed, down for ${downMs} ms, silence ${silentMs} ms`,
    );
  }
  await load.stop();
  const subscribers = new Map([
    [BACKLOG_EVENT, BACKLOGGED],
    [LIVE_EVENT, LIVE],
  ]);
  const lostNow = () => countLost(arrivalsOf(toolgate), load.accepted, subscribers);
  await eventually(() => lostNow() === 0, { deadlineMs: SETTLE_DEADLINE_MS, everyMs: 500 }).catch(() => {});
  const arrivals = arrivalsOf(toolgate);
  const kills = spans.map(({ victim, downMs, ...span }) => ({
    victim,
    downMs,
    backlogSilenceMs: longestSilence(arrivals, BACKLOGGED, span),
    liveSilenceMs: longestSilence(arrivals, LIVE, span),
    repeated: countRepeated(arrivals, span),
  }));
  return { kind, kills, deliveries: arrivals.length, lost: lostNow() };
}

function victimsOf(toolgate: RunningToolgate): Victim[] {
  const { postgres, nats, redis } = toolgate;
  if (!postgres) throw new Error("needs its own PostgreSQL");
  const names = [...new Set(toolgate.processes().map(({ name }) => name))];
  const replicated = names.filter((name) => toolgate.processes().filter((process) => process.name === name).length > 1);
  return [
    ...names.map((name) => killedProcess(toolgate, name, 1)),
    server("NATS", nats),
    ...replicated.map((name) => ({ ...killedProcess(toolgate, name, 2), name: `both ${name}s` })),
    server("Redis", redis),
    server("PostgreSQL", postgres),
  ];
}

/** Waits until each endpoint has got something after this time; if one never does, it counts as silent. */
async function untilAllArrive({ receiver }: RunningToolgate, afterMs: number): Promise<void> {
  const waiting = new Set(PATHS);
  let read = 0;
  await eventually(
    () => {
      for (; read < receiver.requests.length; read += 1) {
        const request = receiver.requests[read];
        if (request && request.receivedAtMs > afterMs) waiting.delete(request.path);
      }
      return waiting.size === 0;
    },
    { deadlineMs: SILENCE_DEADLINE_MS },
  ).catch(() => {});
}

function arrivalsOf({ receiver }: RunningToolgate): Arrival[] {
  return receiver.requests.map(({ path, headers, body, receivedAtMs }) => {
    const { type, data } = JSON.parse(body.toString());
    return { path, atMs: receivedAtMs, deliveryId: String(headers["x-service-delivery"]), type, n: Number(data.n) };
  });
}
