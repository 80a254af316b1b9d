import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maintainPartitions } from "../../src/events/daily-partitions.ts";
import { startToolRunnerRig, type ToolRunnerRig } from "../tool-runner-rig.ts";

const HANDLER = "export default () => ({ ok: true });";
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const userId = randomUUID();

describe("proposals of the builder assistant", () => {
  let runner: ToolRunnerRig;
  let mine: ReturnType<ToolRunnerRig["as"]>;
  beforeAll(async () => {
    runner = await startToolRunnerRig();
    mine = runner.as("manager", undefined, userId);
  });
  afterAll(() => runner[Symbol.asyncDispose]());

  /** As chat does for a model. */
  const propose = (tool: string, changes: JsonObject, more: object = {}) =>
    runner.proposals.createProposal({
      workspaceId: runner.workspaceId,
      userId,
      chatId: "c",
      tool,
      changes,
      ...more,
    });
  const stateOf = async (proposalId: string) => (await mine.proposals.getProposal({ proposalId })).proposal?.state;
  const currentOf = async (name: string) => (await mine.tools.getTool({ name })).tool;

  it("[EXPO-2] [EXPO-4] a proposal changes nothing until its user confirms it, and then releases the tool, audited", async () => {
    await runner.saveTool("orders", { handler: HANDLER });
    const { proposalId } = await propose("orders", { external_api: true });
    expect((await currentOf("orders"))?.version).toBe(1);
    const { proposal } = await mine.proposals.getProposal({ proposalId });
    expect(proposal).toMatchObject({
      tool: "orders",
      baseVersion: 1,
      newlyExposed: ["external_api"],
      state: ProposalState.OPEN,
      before: { description: "orders", handler: HANDLER },
      after: { description: "orders", handler: HANDLER, external_api: true },
    });
    await runner.pool.query(
      `create table entry (record bytea);
       create function keep() returns trigger language plpgsql as $$ begin insert into entry values (new.record); return new; end $$;
       create trigger keep after insert on tool_runner.audit_outbox for each row execute function keep();`,
    );
    const { tool } = await mine.proposals.confirmProposal({ proposalId });
    expect(tool).toMatchObject({ version: 2, savedBy: "manager@example.test", definition: { external_api: true } });
    expect((await runner.call({ tool: "orders" })).outcome.case).toBe("resultJson");
    const { rows } = await runner.pool.query("select convert_from(record, 'LATIN1') as text from entry");
    const texts = rows.map(({ text }) => text).join();
    for (const part of ["tool.edit", "tool.expose", "external_api", "manager@example.test"])
      expect(texts).toContain(part);
  });

  it("[EXPO-4] a proposal cannot be confirmed twice, also not at the same time", async () => {
    await runner.saveTool("twice", { handler: HANDLER });
    const { proposalId } = await propose("twice", { external_api: true });
    const confirm = () => mine.proposals.confirmProposal({ proposalId });
    const outcomes = await Promise.allSettled([confirm(), confirm()]);
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    await expect(confirm()).rejects.toMatchObject({ code: Code.Aborted, rawMessage: expect.stringMatching(/already/) });
    expect((await currentOf("twice"))?.version).toBe(2);
    expect(await stateOf(proposalId)).toBe(ProposalState.CONFIRMED);
  });

  it("[EXPO-2] a proposal cannot be confirmed by another user, a member, or in another workspace", async () => {
    await runner.saveTool("theirs", { handler: HANDLER });
    const { proposalId } = await propose("theirs", { external_api: true });
    for (const other of [runner.as("admin"), runner.as("admin", randomUUID(), userId)]) {
      await expect(other.proposals.getProposal({ proposalId })).rejects.toMatchObject({ code: Code.NotFound });
      await expect(other.proposals.confirmProposal({ proposalId })).rejects.toMatchObject({ code: Code.NotFound });
    }
    const demoted = runner.as("member", undefined, userId).proposals.confirmProposal({ proposalId });
    await expect(demoted).rejects.toMatchObject({ code: Code.PermissionDenied });
    await expect(mine.proposals.confirmProposal({ proposalId: "1" })).rejects.toMatchObject({ code: Code.NotFound });
    expect((await currentOf("theirs"))?.version).toBe(1);
  });

  it("[EXPO-3] a proposal is void once its tool was changed, deleted, or deleted and made again", async () => {
    const CHANGES = {
      edited: () => runner.saveTool("edited", { handler: HANDLER, timeout_ms: 5 }),
      deleted: () => runner.tools.deleteTool({ name: "deleted" }),
      remade: async () => {
        await runner.tools.deleteTool({ name: "remade" });
        await runner.saveTool("remade", { handler: HANDLER });
      },
    };
    for (const [tool, change] of Object.entries(CHANGES)) {
      await runner.saveTool(tool, { handler: HANDLER });
      const { proposalId } = await propose(tool, { external_api: true });
      await change();
      expect([tool, await stateOf(proposalId)]).toEqual([tool, ProposalState.OUTDATED]);
      await expect(mine.proposals.confirmProposal({ proposalId })).rejects.toMatchObject({ code: Code.Aborted });
    }
    expect((await currentOf("edited"))?.definition).not.toHaveProperty("external_api");
  });

  it("[EXPO-3] only the change whose hash was stored can be confirmed", async () => {
    await runner.saveTool("hashed", { handler: HANDLER });
    const { proposalId } = await propose("hashed", { description: "harmless" });
    await runner.pool.query(
      `update tool_runner.proposals set definition = definition || '{"external_api":true}' where id = $1`,
      [proposalId],
    );
    await expect(mine.proposals.confirmProposal({ proposalId })).rejects.toMatchObject({ code: Code.Aborted });
    expect((await currentOf("hashed"))?.version).toBe(1);
  });

  it.each([
    [{ confirm_exposure: true, external_api: true }, "confirm_exposure: is not a member of a definition"],
    [{ handler: "export default (" }, "handler:1:"],
    [{ description: "refused" }, "stay as it is"],
    [{ timeout_ms: null }, "stay as it is"],
  ])("[EXPO-3] the proposal %j is refused as a save would be", async (changes: JsonObject, message) => {
    await runner.saveTool("refused", { handler: HANDLER });
    await expect(propose("refused", changes)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining(message),
    });
    await expect(propose("nowhere", changes)).rejects.toMatchObject({ code: Code.NotFound });
  });

  it("a chat may have 20 open proposals, and is told of its newest", async () => {
    await runner.saveTool("many", { handler: HANDLER, timeout_ms: 1 });
    for (let n = 2; n < 22; n += 1) await propose("many", { timeout_ms: n }, { chatId: "many" });
    const more = propose("many", { timeout_ms: null, external_api: true }, { chatId: "many" });
    await expect(more).rejects.toMatchObject({ code: Code.FailedPrecondition });
    const { proposalId } = await propose("many", { timeout_ms: null, public_api: true }, { chatId: "other" });
    const last = (chatId: string, user = userId) =>
      runner.proposals.readLastProposal({ workspaceId: runner.workspaceId, userId: user, chatId });
    expect((await last("other")).proposal).toMatchObject({ id: proposalId, newlyExposed: ["public_api"] });
    expect((await last("other", randomUUID())).proposal).toBeUndefined();
    await mine.proposals.confirmProposal({ proposalId });
    expect((await last("other")).proposal).toMatchObject({ state: ProposalState.CONFIRMED, savedVersion: 2 });
    expect((await currentOf("many"))?.definition).toEqual({ description: "many", handler: HANDLER, public_api: true });
  });

  it("[EXPO-2] a proposal cannot be confirmed after 10 minutes, and is deleted after 30 days", async () => {
    await runner.saveTool("late", { handler: HANDLER });
    const { proposalId } = await propose("late", { external_api: true });
    runner.clock.advance(10 * MINUTE_MS);
    expect(await stateOf(proposalId)).toBe(ProposalState.EXPIRED);
    const confirm = mine.proposals.confirmProposal({ proposalId });
    await expect(confirm).rejects.toMatchObject({ code: Code.Aborted, rawMessage: expect.stringMatching(/expired/) });
    expect((await currentOf("late"))?.version).toBe(1);
    await maintainPartitions(runner.pool, new Date(Date.now() + 31 * DAY_MS));
    expect((await runner.pool.query("select from tool_runner.proposals")).rowCount).toBe(0);
  });

  it("tools are found by a word, and read with their definition, in their workspace only", async () => {
    await runner.saveTool("found", { description: "Counts parcels", handler: HANDLER });
    const { workspaceId } = runner;
    const { tools } = await runner.proposals.findTools({ workspaceId, search: "parcel" });
    expect(tools).toMatchObject([{ name: "found", definition: { description: "Counts parcels" } }]);
    expect(tools[0]?.definition).not.toHaveProperty("handler");
    expect((await runner.proposals.readTool({ workspaceId, name: "found" })).tool?.definition).toHaveProperty(
      "handler",
    );
    const foreign = randomUUID();
    expect((await runner.proposals.findTools({ workspaceId: foreign })).tools).toEqual([]);
    await expect(runner.proposals.readTool({ workspaceId: foreign, name: "found" })).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });
});
