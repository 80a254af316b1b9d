import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { seededRandom } from "@toolgate/testbed/random";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { killedProcess, server } from "../../faults/victims.ts";
import { answersWithGaps, differentAnswers, unfinishedAnswers, wrongToolCalls } from "../../load/answer-tally.ts";
import { type ReadAnswer, readLikeEventSource, readWithClient } from "../../load/answers.ts";
import { openLoadedChats } from "../../load/chats.ts";
import { startLoad } from "../../load/load.ts";
import { runToolgate } from "../../running-toolgate.ts";
import type { ChatFrontDoor } from "../front-door.ts";

/** Enough that each victim is killed several times. */
const ANSWERS = Number(process.env.CHAT_FAULT_ANSWERS ?? 100);
const VICTIMS = 4;
const CONCURRENT = 12;
const SEED = Number(process.env.FAULT_SEED ?? 1);
const MS_PER_ANSWER = 5_000;
const SETTLE_DEADLINE_MS = 180_000;
/** Time between one victim's return and the next kill. */
const MIN_LEAD_MS = 500;
const MAX_LEAD_MS = 2_500;

describe(`killing gateway, chat processes and NATS during ${ANSWERS} streamed answers (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  const resources = new AsyncDisposableStack();
  const answers: ReadAnswer[] = [];
  const killed: string[] = [];
  let door: ChatFrontDoor;

  beforeAll(
    async () => {
      const toolgate = resources.use(await runToolgate("split", { roles: { chat: { api: 2, worker: 2 } } }));
      door = await openLoadedChats(toolgate, resources);
      toolgate.receiver.behave(({ path }) => ({ delayMs: 50 * (Number(path.split("/").at(-1)) % 10) }));
      const processes = ["gateway", "api", "worker"].map((name) => killedProcess(toolgate, name));
      const victims = [...processes, server("NATS", toolgate.nats)];
      const clients = { count: CONCURRENT / 2, restMs: 0 };
      await using load = startLoad({
        "client library": { ...clients, attempt: async (n) => answers.push(await readWithClient(door, n)) },
        EventSource: { ...clients, attempt: async (n) => answers.push(await readLikeEventSource(door, n)) },
      });
      // More answers on a machine so fast that not everything has been killed by then.
      while (load.failures.length === 0 && (answers.length < ANSWERS || killed.length < victims.length)) {
        await sleep(MIN_LEAD_MS + random() * (MAX_LEAD_MS - MIN_LEAD_MS));
        // Each once, and then at random.
        const victim = victims[killed.length] ?? victims[Math.floor(random() * victims.length)];
        await victim?.kill(random, () => killed.push(victim.name));
      }
      await load.stop();
      expect(load.failures).toEqual([]);
    },
    60_000 + SETTLE_DEADLINE_MS + ANSWERS * MS_PER_ANSWER,
  );
  afterAll(() => resources.disposeAsync());

  test("every answer ends with done and without an error, whatever was killed", () => {
    expect(answers.length).toBeGreaterThanOrEqual(ANSWERS);
    expect(new Set(killed).size).toBe(VICTIMS);
    expect(unfinishedAnswers(answers)).toEqual([]);
    // Otherwise nothing was put to the test.
    expect(answers.reduce((sum, { connections }) => sum + connections, 0)).toBeGreaterThan(answers.length);
  });

  test("[CHAT-21] [CHAT-46] no event id is missing and none comes twice, for either kind of reader", () => {
    expect(answersWithGaps(answers)).toEqual([]);
  });

  test("[CHAT-13] [CHAT-22] [CHAT-28] the stream, the history and the reply to a plain send are equal", async () => {
    expect(await differentAnswers(door, answers)).toEqual([]);
  });

  test("[CHAT-37] no tool runs twice, and what each answer says of it is true", async () => {
    expect(await wrongToolCalls(door.toolgate, answers)).toEqual([]);
  });

  test("nothing is left over: every turn is completed and no slot is held", async () => {
    const { pool } = door.toolgate;
    await eventually(async () => {
      const turns = await pool.query("select status, count(*)::int as count from chat.turn group by 1");
      expect(turns.rows).toEqual([{ status: "completed", count: answers.length }]);
      const groups = await pool.query("select sum(in_flight)::int as held from chat.chat_queue_group");
      expect(groups.rows).toEqual([{ held: 0 }]);
    });
  });
});
