import { randomUUID } from "node:crypto";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ChatRig, kindsOf, startChatRig } from "../chat-rig.ts";
import type { ModelCall } from "../scripted-model.ts";

const MAX_FILE_BYTES = 20 * 1024 * 1024;

/** The history of such a chat has 12,000,000 bytes, so four of them fit into what a workspace may have in memory. */
const MESSAGES = 30;
const MESSAGE = "repeat('é', 200000)";

describe("large turns of one workspace", () => {
  let rig: ChatRig;
  beforeAll(async () => {
    rig = await startChatRig();
    await rig.tools.saveTool("large", { handler: `export default () => "é".repeat(64000);` });
    await rig.saveAssistant("agent", { tools: ["large"] });
    await rig.saveModel("reading", "http://127.0.0.1:1/v1");
    await rig.pool.query("update chat.model set reads_files = true");
    await rig.saveAssistant("reader", { models: ["reading"] });
  });
  afterAll(() => rig[Symbol.asyncDispose]());
  beforeEach(() => rig.model.answer(undefined));

  async function largeChats(chatIds: string[]): Promise<string[]> {
    rig.model.answer(finish);
    const turns = await Promise.all(chatIds.map((chatId) => rig.send(chatId, "Hi")));
    for (const turn of turns) await rig.untilDone(turn);
    rig.model.answer(undefined);
    for (const turn of turns) {
      await rig.pool.query(
        `insert into chat.message (chat, event_id, turn, role, content, created_at)
         select $1, 100 + n, $2, case when n % 2 = 1 then 'user' else 'assistant' end, ${MESSAGE}, now()
         from generate_series(1, ${MESSAGES}) n`,
        [turn.chat, turn.id],
      );
      await rig.pool.query("update chat.chat set last_event_id = 200 where id = $1", [turn.chat]);
    }
    return chatIds;
  }

  /** Who has been asked since, by the newest message of the user. */
  function watch() {
    const before = rig.model.calls.length;
    const calls = () => rig.model.calls.slice(before);
    const find = (message: string) => calls().find(({ request }) => messageOf(request.messages) === message);
    return {
      messages: () => calls().map(({ request }) => messageOf(request.messages)),
      call: (message: string) => eventually(() => find(message) ?? false),
      until: (count: number) => eventually(() => calls().length >= count && calls()),
    };
  }

  it("[CHAT-55] wait for each other once their histories do not fit together, and small ones do not", async () => {
    const chats = await largeChats(["1", "2", "3", "4", "5", "6"].map((name) => `history-${name}`));
    const asked = watch();
    const turns = await Promise.all(chats.map((chatId) => rig.send(chatId, `Large ${chatId}`)));
    const [first] = await asked.until(4);
    // The new message, the first two, and those between.
    expect(first?.request.messages).toHaveLength(MESSAGES + 3);
    await rig.send("small", "Small");
    finish(await asked.call("Small"));
    expect(asked.messages()).toHaveLength(5);
    const waiting = turns.filter((_, index) => !asked.messages().includes(`Large ${chats[index]}`));
    const [next, last] = waiting as [(typeof turns)[0], (typeof turns)[0]];
    const lease = async () =>
      (await rig.pool.query("select lease_until from chat.turn where id = $1", [last.id])).rows[0].lease_until;
    const leased = await lease();
    await eventually(async () => expect((await lease()).getTime()).toBeGreaterThan(leased.getTime()));
    expect(await rig.turns.stop(rig.request(chats[turns.indexOf(last)] ?? "", ""))).toBe(true);
    expect(await rig.status(last)).toBe("stopped");
    expect(asked.messages()).toHaveLength(5);
    if (first) finish(first);
    const calls = await asked.until(6);
    expect(asked.messages().at(-1)).toBe(`Large ${chats[turns.indexOf(next)]}`);
    for (const call of calls.slice(1)) finish(call);
    for (const turn of turns) await rig.untilDone(turn);
  });

  it("wait before the next step when the results of tools do not fit", async () => {
    const chats = await largeChats(["1", "2", "3", "4"].map((name) => `tools-${name}`));
    const asked = watch();
    const turns = await Promise.all(chats.map((chatId) => rig.send(chatId, chatId, { assistant: "agent" })));
    const [calling, other, ...rest] = await asked.until(4);
    if (!calling || !other) throw new Error("not asked");
    for (let count = 0; count < 25; count += 1) calling.callTool("large");
    calling.finish();
    const { chat } = turns[chats.indexOf(messageOf(calling.request.messages))] as (typeof turns)[0];
    await eventually(async () => {
      const kinds = kindsOf(await rig.events(chat));
      expect(kinds.filter((kind) => kind === "toolComplete")).toHaveLength(25);
    });
    await rig.send("small tools", "Small");
    finish(await asked.call("Small"));
    expect(asked.messages()).toHaveLength(5);
    finish(other);
    const again = (await asked.until(6)).at(-1);
    expect(again?.request.messages.at(-1)).toMatchObject({ role: "tool" });
    for (const call of [...rest, again]) if (call) finish(call);
    for (const turn of turns) await rig.untilDone(turn);
  });

  it("wait for each other's files", async () => {
    const file = async () => {
      const id = randomUUID();
      await rig.pool.query(
        "insert into chat.file (id, user_id, name, size, created_at) values ($1, $2, 'report.pdf', $3, now())",
        [id, rig.request("", "").userId, MAX_FILE_BYTES],
      );
      return id;
    };
    const asked = watch();
    const names = ["File 1", "File 2", "File 3"];
    for (const name of names) await rig.send(name, name, { assistant: "reader", fileId: await file() });
    const [first] = await asked.until(2);
    await rig.send("small file", "Small");
    finish(await asked.call("Small"));
    expect(asked.messages()).toHaveLength(3);
    if (first) finish(first);
    await asked.until(4);
    expect(asked.messages().sort()).toEqual([...names, "Small"]);
  });
});

function messageOf(messages: ModelCall["request"]["messages"]): string {
  const users = messages.filter((message) => message.role === "user");
  return users.at(-1)?.text ?? "";
}

function finish(call: ModelCall): void {
  call.text("Done.");
  call.finish();
}
