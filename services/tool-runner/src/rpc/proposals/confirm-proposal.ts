import { Code, ConnectError } from "@connectrpc/connect";
import { type ProposalService, ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { validate as isUuid } from "uuid";
import type { Context } from "../../context.ts";
import { findProposal, lockProposal, markConfirmed, type ProposalRow } from "../../store/proposals.ts";
import type { ToolRow } from "../../store/tools.ts";
import { type Change, changeWorkspace } from "../change.ts";
import { mustBeValid, saveVersion } from "../tools/save-version.ts";
import { toolMessage } from "../tools/tool-message.ts";
import { noSuchProposal, stateOf } from "./proposal-message.ts";

const REFUSALS: Readonly<Partial<Record<ProposalState, string>>> = {
  [ProposalState.CONFIRMED]: "this proposal is confirmed already",
  [ProposalState.EXPIRED]: "this proposal has expired",
  [ProposalState.OUTDATED]: "the tool was changed after this proposal was made",
};

/** [EXPO-2] [EXPO-4] The user's click is the answer to the question that the card asks. */
export const confirmProposal: Handler<Context, typeof ProposalService.method.confirmProposal> = async (
  context,
  { proposalId },
  call,
) => {
  const principal = principalOf(call);
  const proposed = isUuid(proposalId) ? await findProposal(context.pool, principal, proposalId) : undefined;
  if (!proposed) throw noSuchProposal();
  // Compiled without a lock; the hash says that it is still the same change.
  await mustBeValid(context.compiler, principal.workspaceId, proposed.after);
  const row = await changeWorkspace(context, call, async (change) => {
    const proposal = await lockProposal(change.client, principal, proposalId);
    if (!proposal) throw noSuchProposal();
    const refusal = REFUSALS[stateOf(proposal, context.now())];
    if (refusal !== undefined) throw new ConnectError(refusal, Code.Aborted);
    return save(change, proposal);
  });
  return { tool: toolMessage(row) };
};

async function save(change: Change, { id, tool: name, after, baseVersion }: ProposalRow): Promise<ToolRow> {
  const tool = { name, definition: after, restored: false, confirmExposure: true, expectedVersion: baseVersion };
  const row = await saveVersion(change, tool);
  await markConfirmed(change.client, id, row.version);
  return row;
}
