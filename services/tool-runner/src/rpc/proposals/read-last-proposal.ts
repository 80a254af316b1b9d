import type { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { findLastProposal } from "../../store/proposals.ts";
import { proposalSummary } from "./proposal-message.ts";

export const readLastProposal: Handler<Context, typeof ProposalService.method.readLastProposal> = async (
  { pool, now },
  { chatId, ...owner },
) => {
  const row = await findLastProposal(pool, owner, chatId);
  return row ? { proposal: proposalSummary(row, now()) } : {};
};
