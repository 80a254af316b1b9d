import type { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { validate as isUuid } from "uuid";
import type { Context } from "../../context.ts";
import { findProposal } from "../../store/proposals.ts";
import { noSuchProposal, proposalMessage } from "./proposal-message.ts";

export const getProposal: Handler<Context, typeof ProposalService.method.getProposal> = async (
  { pool, now },
  { proposalId },
  call,
) => {
  const row = isUuid(proposalId) ? await findProposal(pool, principalOf(call), proposalId) : undefined;
  if (!row) throw noSuchProposal();
  return { proposal: proposalMessage(row, now()) };
};
