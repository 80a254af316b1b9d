import { eventually } from "@toolgate/testbed/eventually";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatFrontDoor, openChat } from "./front-door.ts";

let door: ChatFrontDoor;
beforeAll(async () => {
  door = await openChat("split");
});
afterAll(() => door[Symbol.asyncDispose]());

test("[EXPO-2] [EXPO-4] the builder's proposal is confirmed by an RPC of its user, and the audit log says who released what", async () => {
  const { manage, account } = door.toolgate;
  const stream = await door.stream({ chat_id: "build", assistant: "@builder", message: "Release long_report" });
  const events = await stream.ended;
  const done = events.find(({ event }) => event === "tool_complete");
  expect(done?.data).toMatchObject({ tool: "propose_release", success: true, proposal_id: expect.any(String) });
  const proposalId = String(done?.data.proposal_id);
  const { proposal } = await manage<{ proposal: { state: string } }>("tool_runner.v1.ProposalService/GetProposal", {
    proposalId,
  });
  expect(proposal).toMatchObject({ tool: "long_report", newlyExposed: ["external_api"], state: "PROPOSAL_STATE_OPEN" });
  await manage("tool_runner.v1.ProposalService/ConfirmProposal", { proposalId });
  const { secret } = await door.toolgate.createKey({ name: "Acme", tools: ["long_report"] });
  expect((await door.toolgate.call("long_report", secret)).status).toBe(200);
  await eventually(async () => {
    const { entries } = await manage<{ entries: object[] }>("key_auth.v1.AuditService/ListAuditEntries", {});
    expect(entries).toContainEqual(
      expect.objectContaining({ actor: account.email, action: "tool.expose", target: "long_report" }),
    );
  });
});
