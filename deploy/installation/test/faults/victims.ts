import { setTimeout as sleep } from "node:timers/promises";
import { inTransaction, type Pool } from "@toolgate/postgres/pool";
import { eventually } from "@toolgate/testbed/eventually";
import { type Random, shuffled } from "@toolgate/testbed/random";
import type { TestServer } from "@toolgate/testbed/servers/servers";
import type { RunningToolgate } from "../running-toolgate.ts";

/** A part of an installation that is killed and comes back. */
export interface Victim {
  name: string;
  /** How many processes this fault ends, by name; all others must survive it. */
  ends: Readonly<Record<string, number>>;
  /** The log records in the broker are lost. */
  losesLog?: boolean;
  /** Kills it, and resolves once it accepts work again. `onKilled` is called when it is dead. */
  kill(random: Random, onKilled: () => void): Promise<void>;
}

const BACK_DEADLINE_MS = 60_000;
/** Longest time that a server stays down. */
const MAX_OUTAGE_MS = 1_500;
/** How long calls continue without the first of two victims. */
const BETWEEN_TWO_MS = 400;

/** Each process and each server, killed at random moments; NATS and Redis also with the loss of their data. */
export function victimsAtRandom(toolgate: RunningToolgate): Victim[] {
  const { postgres, nats, redis } = serversOf(toolgate);
  const killed = (name: string, count?: number) => killedProcess(toolgate, name, count);
  return [
    killed("fan-out"),
    killed("dispatcher"),
    killed("dispatcher", 2),
    killed("worker"),
    killed("worker", 2),
    killed("receiver"),
    killed("receiver", 2),
    killed("runner"),
    killed("runner", 2),
    killed("gateway"),
    killed("key-auth"),
    killed("tool-runner"),
    server("PostgreSQL", postgres),
    server("NATS", nats),
    wiped("NATS wiped", nats, { losesLog: true }),
    server("Redis", redis),
    wiped("Redis wiped", redis),
  ];
}

/** The same at their worst moments: in the middle of a write, or while the next service in the chain is down. */
export function victimsAtWorst(toolgate: RunningToolgate): Victim[] {
  const { postgres, nats, redis } = serversOf(toolgate);
  const { pool } = toolgate;
  const killed = (name: string, count?: number) => killedProcess(toolgate, name, count);
  return [
    wiped("NATS wiped", nats, { losesLog: true }),
    { ...whileDown(killed("fan-out"), wiped("NATS wiped", nats)), losesLog: true },
    killed("dispatcher", 2),
    killed("worker"),
    whileWriting(killed("dispatcher"), pool, ["outbound_webhook.delivery"]),
    whileWriting(killed("fan-out"), pool, ["outbound_webhook.delivery"]),
    whileDown(server("NATS", nats), killed("gateway")),
    whileWriting(killed("key-auth"), pool, ["key_auth.api_key_requests"]),
    whileDown(server("NATS", nats), killed("tool-runner")),
    server("PostgreSQL", postgres),
    // Not at the same time: a call's usage is passed on only once its run is stored.
    whileWriting(server("NATS", nats), pool, ["tool_runner.executions", "outbound_webhook.delivery"]),
    whileWriting({ ...server("NATS", nats), name: "NATS, usage" }, pool, ["key_auth.api_key_requests"]),
    server("Redis", redis),
    wiped("Redis wiped", redis),
    // Between any two steps of a hook call.
    whileWriting(killed("receiver"), pool, ["inbound_hook.replay_key"]),
    whileWriting(killed("receiver", 2), pool, ["inbound_hook.delivery"]),
    whileWriting(killed("runner"), pool, ["inbound_hook.run"]),
    killed("runner", 2),
    whileDown(server("NATS", nats), killed("runner")),
    whileDown(server("Redis", redis), killed("receiver")),
  ];
}

function serversOf({ postgres, nats, redis }: RunningToolgate) {
  if (!postgres) throw new Error("needs its own PostgreSQL");
  return { postgres, nats, redis };
}

/** Some processes of one name. */
export function killedProcess(toolgate: RunningToolgate, name: string, count = 1): Victim {
  return {
    name: count === 2 ? `both ${name}s` : name,
    ends: { [name]: count },
    async kill(random, onKilled) {
      const replicas = toolgate.processes().filter((running) => running.name === name);
      const killed = shuffled(replicas, random).slice(0, count);
      const pids = killed.map(({ pid }) => pid);
      if (pids.length < count || pids.includes(0)) throw new Error(`not ${count} of ${name} run`);
      for (const pid of pids) process.kill(pid, "SIGKILL");
      onKilled();
      await eventually(() => killed.every(({ pid }, place) => pid !== 0 && pid !== pids[place]), {
        deadlineMs: BACK_DEADLINE_MS,
      });
    },
  };
}

/** A server, which stays down for a moment and keeps its data. */
export function server(name: string, victim: Pick<TestServer, "kill" | "restart">): Victim {
  return {
    name,
    ends: {},
    async kill(random, onKilled) {
      await victim.kill();
      onKilled();
      await sleep(BETWEEN_TWO_MS + random() * (MAX_OUTAGE_MS - BETWEEN_TWO_MS));
      await victim.restart();
    },
  };
}

function wiped(name: string, victim: Pick<TestServer, "wipe">, options: Pick<Victim, "losesLog"> = {}): Victim {
  return {
    name,
    ends: {},
    ...options,
    async kill(_, onKilled) {
      onKilled();
      await victim.wipe();
    },
  };
}

/** Kills the second soon after the first, before the first is back. */
function whileDown(first: Victim, second: Victim): Victim {
  return {
    name: `${second.name}, ${first.name} down`,
    ends: { ...first.ends, ...second.ends },
    async kill(random, onKilled) {
      const firstKilled = Promise.withResolvers<void>();
      const firstBack = first.kill(random, firstKilled.resolve);
      await Promise.race([firstKilled.promise, firstBack]);
      const [back] = await Promise.allSettled([
        firstBack,
        sleep(BETWEEN_TWO_MS / 2).then(() => second.kill(random, onKilled)),
      ]);
      if (back.status === "rejected") throw back.reason;
    },
  };
}

/** Kills it while transactions that write to these tables are blocked; they continue when it is dead. */
function whileWriting(victim: Victim, pool: Pool, tables: readonly string[]): Victim {
  return {
    ...victim,
    name: `${victim.name}, writing`,
    async kill(random, onKilled) {
      const release = await whileWritesWait(pool, tables);
      await victim.kill(random, () => {
        onKilled();
        release();
      });
    },
  };
}

/**
 * Blocks all writes to these tables, and resolves once each has a transaction waiting. The function that it resolves
 * with releases them: everything already sent to the database is then committed, even if its sender has died.
 */
async function whileWritesWait(pool: Pool, tables: readonly string[]): Promise<() => void> {
  const released = Promise.withResolvers<void>();
  const waiting = Promise.withResolvers<void>();
  const held = inTransaction(pool, async (client) => {
    await client.query(`lock table ${tables.join(", ")} in share row exclusive mode`);
    const allWait = async () => {
      const { rows } = await client.query(
        `select count(distinct relation)::int as tables from pg_locks
         where not granted and relation = any($1::text[]::regclass[])`,
        [tables],
      );
      return rows[0].tables === tables.length;
    };
    await eventually(allWait);
    waiting.resolve();
    await released.promise;
  });
  held.catch(waiting.reject);
  await waiting.promise;
  return released.resolve;
}
