import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { seededRandom } from "@toolgate/testbed/random";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { plain, type RecordedRequest } from "../../../../../services/chat/test/model-servers/script.ts";
import { type ModelServer, startOpenAiServer } from "../../../../../services/chat/test/model-servers/server.ts";
import { killedProcess, server, type Victim } from "../../faults/victims.ts";
import { type ChatFrontDoor, openChat } from "../front-door.ts";
import { type ReadAnswer, readLikeEventSource, readWithClient } from "./answers.ts";

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
const FIRST = "I will look that up for you, just a moment.";
const SECOND = Array.from({ length: 40 }, (_, n) => `word-${n}`).join(" ");
const VISIT = "export default async ({ url }, ctx) => (await ctx.fetch(url, { method: 'POST' }), { success: true });";

describe(`killing gateway, chat processes and NATS during ${ANSWERS} streamed answers (seed ${SEED})`, () => {
  const random = seededRandom(SEED);
  const answers: ReadAnswer[] = [];
  const killed: string[] = [];
  let door: ChatFrontDoor;
  let model: ModelServer;

  beforeAll(
    async () => {
      model = await startOpenAiServer();
      door = await openChat("split", {
        roles: { chat: { api: 2, worker: 2 } },
        env: { ALLOWED_TARGETS: "127.0.0.1" },
      });
      const { manage, saveTool, receiver } = door.toolgate;
      await saveTool("visit", {
        handler: VISIT,
        parameters: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
      });
      const provider = "MODEL_PROVIDER_OPENAI_COMPATIBLE";
      await manage("chat.v1.ModelService/SaveModel", { name: "local", provider, baseUrl: model.baseUrl, model: "m" });
      const definition = { instructions: "Help.", models: ["local"], tools: ["visit"] };
      await manage("chat.v1.AssistantService/SaveAssistant", { name: "agent", definition });
      await manage("chat.v1.AssistantService/SetDefaultAssistant", { name: "agent" });
      receiver.behave(({ path }) => ({ delayMs: 50 * (Number(path.split("/").at(-1)) % 10) }));
      model.answer((request) => scriptOf(request, receiver.url));
      const reading = readAnswers();
      let isOver = false;
      const over = reading.finally(() => {
        isOver = true;
      });
      over.catch(() => {});
      const victims = victimsOf();
      for (let turn = 0; !isOver; turn += 1) {
        await Promise.race([over, sleep(MIN_LEAD_MS + random() * (MAX_LEAD_MS - MIN_LEAD_MS))]);
        if (isOver) break;
        // Each once, and then at random.
        const victim = victims[turn < victims.length ? turn : Math.floor(random() * victims.length)] as Victim;
        await victim.kill(random, () => killed.push(victim.name));
      }
      await reading;
    },
    60_000 + SETTLE_DEADLINE_MS + ANSWERS * MS_PER_ANSWER,
  );
  afterAll(async () => {
    await door?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
  });

  function victimsOf(): Victim[] {
    const { toolgate } = door;
    const processes = ["gateway", "api", "worker"].map((name) => killedProcess(toolgate, name, 1));
    return [...processes, server("NATS", toolgate.nats)];
  }

  async function readAnswers(): Promise<void> {
    let next = 0;
    const readNext = async () => {
      // More than that on a machine so fast that not everything has been killed by then.
      while (next < ANSWERS || killed.length < VICTIMS) {
        const number = next++;
        const read = number % 2 === 0 ? readWithClient : readLikeEventSource;
        answers.push(await read(door, `Number ${number}`, `fault-${number}`));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, readNext));
  }

  test("every answer ends with done and without an error, whatever was killed", () => {
    expect(answers.length).toBeGreaterThanOrEqual(ANSWERS);
    expect(new Set(killed).size).toBe(VICTIMS);
    const ends = answers.map(({ chatId, kinds }) => [
      chatId,
      kinds.filter((kind) => kind === "error" || kind === "done"),
    ]);
    expect(ends.filter(([, kinds]) => kinds?.toString() !== "done")).toEqual([]);
    // Otherwise nothing was put to the test.
    expect(answers.reduce((sum, { connections }) => sum + connections, 0)).toBeGreaterThan(answers.length);
  });

  test("[CHAT-21] [CHAT-46] no event id is missing and none comes twice, for either kind of reader", () => {
    const wrong = answers.filter(({ ids }) => ids.some((id, index) => id !== index + 1));
    expect(wrong.map(({ chatId, ids }) => `${chatId}: ${ids.join()}`)).toEqual([]);
  });

  test("[CHAT-13] [CHAT-22] [CHAT-28] the stream, the history and the reply to a plain send are equal", async () => {
    const different: unknown[] = [];
    for (const { chatId, clientMessageId, message, text } of answers) {
      const history = await door.history(chatId);
      const sent = await door.post("/chat/index", { chat_id: chatId, message, client_message_id: clientMessageId });
      const stored = history.map(({ content }) => content);
      const isEqual = stored.length === 2 && stored[0] === message && stored[1] === text && sent.body.reply === text;
      if (!isEqual || text === "") different.push({ chatId, text, stored, sent: sent.body });
    }
    expect(different).toEqual([]);
  });

  test("[CHAT-37] no tool runs twice, and what each answer says of it is true", async () => {
    const { receiver, pool } = door.toolgate;
    const visits = Map.groupBy(receiver.requests, ({ path }) => path);
    const { rows } = await pool.query<{ number: string; calls: number; status: string }>(
      `select substr(chat_id, 7) as number, count(*)::int as calls, min(tool_call.status) as status
       from chat.chat join chat.turn on turn.chat = chat.id join chat.tool_call on tool_call.turn = turn.id
       where chat_id like 'fault-%' group by 1`,
    );
    expect(rows).toHaveLength(answers.length);
    const wrong = rows.filter(({ number, calls, status }) => {
      const count = visits.get(`/visit/${number}`)?.length ?? 0;
      return calls !== 1 || count > 1 || (status === "succeeded" && count !== 1);
    });
    expect(wrong).toEqual([]);
    for (const { chatId, kinds } of answers)
      expect([chatId, ...kinds.filter((kind) => kind.startsWith("tool"))]).toEqual([
        chatId,
        "tool_start",
        "tool_complete",
      ]);
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

/** Each answer has its own pace, so that kills find the answers in all their phases. */
function scriptOf({ body }: RecordedRequest, receiverUrl: string) {
  const number = Number(
    plain(body.messages.find(({ role }) => role === "user")?.content)
      .split(" ")
      .at(-1),
  );
  const pace = { tokensPerSecond: 12 + (number % 7) * 4, firstTokenMs: (number % 5) * 40 };
  if (body.messages.some(({ role }) => role === "tool")) return { ...pace, text: SECOND };
  const args = JSON.stringify({ url: `${receiverUrl}/visit/${number}` });
  return { ...pace, text: FIRST, toolCalls: [{ id: "c1", name: "visit", args }] };
}
