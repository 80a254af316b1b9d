import { randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { connectBus } from "@toolgate/event-bus/connect";
import { CallUsageSchema } from "@toolgate/gen/toolgate/tool_runner/v1/run_pb";
import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startToolRunnerRig, type ToolCall, type ToolRunnerRig } from "../tool-runner-rig.ts";

const HOUR_MS = 3_600_000;
const UNKNOWN = { outcome: { case: "outcomeUnknown" }, replayed: true };
const NUMBERED = { type: "object", properties: { n: { type: "integer" }, fail: { type: "boolean" } } };

describe("calls with an idempotency key", () => {
  let runner: ToolRunnerRig;
  beforeAll(async () => {
    runner = await startToolRunnerRig({ replicas: 2 });
    await runner.data.query("create table gate (n int)");
    await runner.dataSource.setDataSource({ url: runner.dataUrl });
    await runner.dataSource.savePreparedQuery({ query: { name: "gate", sql: "select n from gate" } });
    const url = JSON.stringify(`${runner.receiver.url}/effect`);
    await runner.saveTool("effect", {
      external_api: true,
      webhook_event: true,
      timeout_ms: 20_000,
      parameters: NUMBERED,
      handler: `export default async (args, ctx) => {
        await ctx.fetch(${url}, { method: "POST" });
        await ctx.executePreparedQuery("gate");
        if (args.fail) throw new Error("failed after the effect");
        return { success: true, random: Math.random() };
      };`,
    });
    await runner.saveTool("plain", {
      external_api: true,
      handler: "export default () => ({ random: Math.random() });",
    });
  });
  afterAll(() => runner[Symbol.asyncDispose]());

  const effects = () => runner.receiver.requests.length;
  const call = (options: Partial<ToolCall> & { idempotencyKey: string }) => runner.call({ tool: "effect", ...options });
  const logged = async () =>
    (await runner.pool.query("select count(*)::int as n from tool_runner.executions")).rows[0].n;
  /** Runs wait after their effect until the gate is opened. */
  async function closeGate(): Promise<() => Promise<unknown>> {
    const client = await runner.data.connect();
    await client.query("begin; lock table gate in access exclusive mode");
    return async () => {
      await client.query("rollback");
      client.release();
    };
  }

  it("[LOG-2] only the call that ran says that its usage record is stored, not a repeat, also of a failure, or another body", async () => {
    const usage = create(CallUsageSchema, { id: randomUUID(), atMs: BigInt(Date.now()), okStatus: 200 });
    const [ran, failed] = [randomUUID(), randomUUID()];
    expect(await call({ idempotencyKey: ran, usage })).toMatchObject({ usageRecorded: true, replayed: false });
    expect(await call({ idempotencyKey: ran, usage })).toMatchObject({ usageRecorded: false, replayed: true });
    const mismatch = await call({ idempotencyKey: ran, usage, args: { n: 2 } });
    expect(mismatch).toMatchObject({ usageRecorded: false, outcome: { case: "idempotencyMismatch" } });
    const failure = await call({ idempotencyKey: failed, usage, args: { fail: true } });
    expect(failure).toMatchObject({ usageRecorded: true, outcome: { case: "toolFailed" } });
    const before = effects();
    const again = await call({ idempotencyKey: failed, usage, args: { fail: true } });
    expect(again).toMatchObject({ usageRecorded: false, replayed: true, outcome: { case: "toolFailed" } });
    expect(effects()).toBe(before);
    expect(await call({ idempotencyKey: randomUUID() })).toMatchObject({ usageRecorded: false });
    expect(await runner.call({ tool: "nowhere", usage })).toMatchObject({ usageRecorded: false });
  });

  it("[TOOL] a repeat gets the stored outcome, byte for byte, from every replica, without running, logging or reporting", async () => {
    const idempotencyKey = randomUUID();
    const first = await call({ idempotencyKey });
    const before = effects();
    expect(first).toMatchObject({ replayed: false, outcome: { case: "resultJson" } });
    await eventually(async () => (await logged()) === before);
    const events = async () => (await runner.pool.query("select count(*)::int as n from tool_runner.outbox")).rows[0].n;
    const reported = await events();
    for (const replica of [0, 1, 0]) {
      const repeat = await call({ idempotencyKey, replica });
      expect(repeat.replayed).toBe(true);
      expect(repeat.executionId).toBe(first.executionId);
      expect(repeat.outcome).toEqual(first.outcome);
    }
    expect(effects()).toBe(before);
    expect(await events()).toBe(reported);
    expect(await logged()).toBe(before);
  });

  it("[TOOL] calls that never reach the run leave the key free, which belongs to one API key and one tool", async () => {
    const idempotencyKey = randomUUID();
    expect((await call({ idempotencyKey, args: { n: "x" } })).outcome.case).toBe("invalidArguments");
    expect((await call({ idempotencyKey, listed: false })).outcome.case).toBe("unavailable");
    for (const other of [{}, { keyId: "2" }, { tool: "plain" }]) {
      const first = await call({ idempotencyKey, ...other });
      expect(first).toMatchObject({ replayed: false, outcome: { case: "resultJson" } });
    }
  });

  it("[TOOL] of calls with one key at the same time one runs, on any replica, and the others learn while it runs that it does", async () => {
    const idempotencyKey = randomUUID();
    const before = effects();
    const open = await closeGate();
    const responses: Awaited<ReturnType<typeof call>>[] = [];
    const twins = Array.from({ length: 8 }, async (_, index) => {
      responses.push(await call({ idempotencyKey, replica: index % 2 }));
    });
    await eventually(() => responses.length === 7);
    for (const { outcome } of responses) expect(outcome.case).toBe("idempotencyInProgress");
    await open();
    await Promise.all(twins);
    expect(effects()).toBe(before + 1);
    const { outcome } = responses[7] ?? {};
    expect(outcome?.case).toBe("resultJson");
    expect(await call({ idempotencyKey })).toMatchObject({ replayed: true, outcome });
  });

  it("[TOOL] a run that ends after its lease gets the same as its repeats: outcome unknown", async () => {
    const idempotencyKey = randomUUID();
    const open = await closeGate();
    const before = effects();
    const first = call({ idempotencyKey });
    await eventually(() => effects() === before + 1);
    await runner.pool.query(
      "update tool_runner.idempotent_calls set lease_until = now() - interval '1 s' where idempotency_key = $1",
      [idempotencyKey],
    );
    expect(await call({ idempotencyKey })).toMatchObject(UNKNOWN);
    await open();
    expect(await first).toMatchObject(UNKNOWN);
  });

  it("[TOOL] a run whose log record was lost may have had effects and is not repeated", async () => {
    await using bus = await connectBus({ servers: runner.nats.url, name: "test" });
    const idempotencyKey = randomUUID();
    await bus.jsm.streams.update("RECORDS", { max_msg_size: 100 });
    await expect(call({ idempotencyKey })).rejects.toThrow();
    await bus.jsm.streams.update("RECORDS", { max_msg_size: -1 });
    expect(await call({ idempotencyKey })).toMatchObject(UNKNOWN);
  });

  it("[TOOL] the key is free again after 24 hours, even across midnight", async () => {
    const idempotencyKey = randomUUID();
    await call({ idempotencyKey });
    runner.clock.advance(23 * HOUR_MS);
    expect((await call({ idempotencyKey })).replayed).toBe(true);
    runner.clock.advance(1 * HOUR_MS);
    expect((await call({ idempotencyKey })).replayed).toBe(false);
  });
});
