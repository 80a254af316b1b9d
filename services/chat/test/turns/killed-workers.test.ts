import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { TurnRef } from "../../src/store/turns/start.ts";
import { type ChatRig, expectDense, kindsOf, startChatRig, streamedText } from "../chat-rig.ts";
import { plain, type RecordedRequest } from "../model-servers/script.ts";
import { type ModelServer, startOpenAiServer } from "../model-servers/server.ts";
import { type WorkerProcesses, workerProcesses } from "../worker-process.ts";

const TURNS = 40;
const VISIT = "export default async (args, ctx) => (await ctx.fetch(args.url, { method: 'POST' }), { success: true });";
const FIRST = "I will look that up for you, just a moment.";
const SECOND = "Here it is: one two three four five six seven eight nine ten eleven twelve, and that is all.";

/** The number of the turn that a request is for. */
function numberOf({ body }: RecordedRequest): number {
  const user = body.messages.find(({ role }) => role === "user");
  return Number(plain(user?.content).split(" ").at(-1));
}

describe("workers that are killed", () => {
  let rig: ChatRig;
  let workers: WorkerProcesses;
  let server: ModelServer;
  beforeAll(async () => {
    // Takes turns in, but does not run them.
    rig = await startChatRig({ instances: [["api"]] });
    workers = await workerProcesses(rig);
    server = await startOpenAiServer();
    const parameters = { type: "object", properties: { url: { type: "string" } } };
    await rig.tools.saveTool("visit", { handler: VISIT, parameters });
    await rig.saveAssistant("agent", { tools: ["visit"], models: ["local"] });
    await rig.saveModel("local", server.baseUrl);
  });
  afterAll(async () => {
    await workers[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    await rig[Symbol.asyncDispose]();
  });

  it("[CHAT] whatever a killed worker was doing, another one finishes the answers, and no tool runs twice", async () => {
    const url = (number: number) => `${rig.tools.receiver.url}/visit/${number}`;
    const firstKilled = Promise.withResolvers<void>();
    // However slow the machine is, the first kill finds some tools and some second answers under way.
    const staysInTool = (number: number) => number % 4 === 0;
    const staysInSecond = (number: number) => number % 4 === 1;
    let inSecond = 0;
    const visit = ({ path }: { path: string }) => ({ delayMs: 40 * Number(path.split("/").at(-1)) });
    rig.tools.receiver.behave((request) =>
      staysInTool(Number(request.path.split("/").at(-1))) ? { hang: "before-status" } : visit(request),
    );
    // Turns are spread over all their phases: each has another pace.
    server.answer((request) => {
      const number = numberOf(request);
      const hasResult = request.body.messages.some(({ role }) => role === "tool");
      const pace = { tokensPerSecond: 4 + number, firstTokenMs: 30 * (TURNS - number) };
      if (hasResult && !staysInSecond(number)) return { ...pace, text: SECOND };
      if (hasResult) {
        const before = async (token: number) => {
          if (token !== 5) return;
          inSecond += 1;
          await firstKilled.promise;
        };
        return { ...pace, text: SECOND, before };
      }
      const args = JSON.stringify({ url: url(number) });
      return { ...pace, text: FIRST, toolCalls: [{ id: "c1", name: "visit", args }] };
    });
    const turns: TurnRef[] = [];
    for (let number = 0; number < TURNS; number += 1)
      turns.push(await rig.send(`killed-${number}`, `Number ${number}`, { assistant: "agent" }));
    // Only now, so that no turn ends while others are still being sent.
    const first = await workers.start();
    const statuses = async () =>
      (await rig.pool.query("select status, count(*) from chat.turn group by 1")).rows as { status: string }[];
    const calls = async () => (await rig.pool.query("select status, count(*) from chat.tool_call group by 1")).rows;
    // When some calls have ended and others run, there are turns before, in and after their tools.
    await eventually(
      async () => {
        expect((await calls()).map(({ status }) => status).sort()).toEqual(["started", "succeeded"]);
        expect(inSecond).toBeGreaterThan(0);
      },
      { deadlineMs: 60_000 },
    );
    await first.end("SIGKILL", 0);
    rig.tools.receiver.behave(visit);
    firstKilled.resolve();
    const second = await workers.start();
    await eventually(async () => expect(server.requests.length).toBeGreaterThan(2 * TURNS), { deadlineMs: 60_000 });
    await second.end("SIGKILL", 0);
    await workers.start();
    await eventually(async () => expect(await statuses()).toEqual([{ status: "completed", count: TURNS }]), {
      deadlineMs: 120_000,
      everyMs: 200,
    });
    for (const [number, turn] of turns.entries()) {
      const events = await rig.events(turn.chat);
      expectDense(events);
      expect(streamedText(events)).toBe(`${FIRST}\n${SECOND}`);
      expect((await rig.history(turn.chat)).at(-1)?.content).toBe(`${FIRST}\n${SECOND}`);
      const kinds = kindsOf(events);
      for (const kind of ["user", "toolStart", "toolComplete", "done"])
        expect(kinds.filter((found) => found === kind)).toHaveLength(1);
      expect(kinds.at(-1)).toBe("done");
      const { rows } = await rig.pool.query("select status from chat.tool_call where turn = $1", [turn.id]);
      const visits = rig.tools.receiver.requests.filter(({ path }) => path === `/visit/${number}`).length;
      expect(rows).toHaveLength(1);
      if (rows[0]?.status === "succeeded") expect(visits).toBe(1);
      else expect([rows[0]?.status, visits <= 1]).toEqual(["unknown", true]);
    }
    const groups = await rig.pool.query("select in_flight from chat.chat_queue_group");
    expect(groups.rows).toEqual([{ in_flight: 0 }]);
  }, 480_000);
});
