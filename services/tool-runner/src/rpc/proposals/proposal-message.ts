import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { timestampOf } from "@toolgate/service-host/time";
import { newlyExposed } from "../../domain/definitions/release.ts";
import type { ProposalRow } from "../../store/proposals.ts";

export function stateOf({ savedVersion, isSameChange, expiresAt }: ProposalRow, nowMs: number): ProposalState {
  if (savedVersion !== null) return ProposalState.CONFIRMED;
  if (!isSameChange) return ProposalState.OUTDATED;
  return expiresAt.getTime() <= nowMs ? ProposalState.EXPIRED : ProposalState.OPEN;
}

/** Without the definitions. */
export function proposalSummary(row: ProposalRow, nowMs: number) {
  const { id, tool, baseVersion, before, after, expiresAt, savedVersion } = row;
  return {
    id,
    tool,
    baseVersion,
    newlyExposed: newlyExposed(before, after),
    state: stateOf(row, nowMs),
    expiresAt: timestampOf(expiresAt),
    savedVersion: savedVersion ?? 0,
  };
}

export function proposalMessage(row: ProposalRow, nowMs: number) {
  return { ...proposalSummary(row, nowMs), before: row.before as JsonObject, after: row.after as JsonObject };
}

export function noSuchProposal(): ConnectError {
  return new ConnectError("no such proposal", Code.NotFound);
}
