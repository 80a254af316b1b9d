import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type ProposalService, ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Handlers } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import { timestampOf } from "@toolgate/service-host/time";
import { validate as isUuid } from "uuid";
import type { Context } from "../context.ts";
import { changedFields, newlyExposed } from "../domain/definitions/release.ts";
import {
  findLastProposal,
  findProposal,
  insertProposal,
  lockProposal,
  MAX_OPEN,
  markConfirmed,
  type ProposalRow,
} from "../store/proposals.ts";
import { findTool } from "../store/tools.ts";
import { changeWorkspace } from "./change.ts";
import { mustBeValid, saveVersion } from "./tools/save-version.ts";
import { noSuchTool, toolMessage } from "./tools/tools.ts";

const VALID_FOR_MS = 10 * 60_000;

const REFUSALS: Readonly<Partial<Record<ProposalState, string>>> = {
  [ProposalState.CONFIRMED]: "this proposal is confirmed already",
  [ProposalState.EXPIRED]: "this proposal has expired",
  [ProposalState.OUTDATED]: "the tool was changed after this proposal was made",
};

export const proposalHandlers = {
  async createProposal({ pool, compiler, now }, { workspaceId, userId, chatId, tool, changes = {} }) {
    const current = await findTool(pool, workspaceId, tool);
    if (!current) throw noSuchTool();
    const members = Object.entries({ ...(current.definition as object), ...changes });
    const after = Object.fromEntries(members.filter(([name]) => changes[name] !== null));
    await mustBeValid(compiler, workspaceId, after);
    if (changedFields(current.definition, after).length === 0) {
      throw new ConnectError("the tool would stay as it is", Code.InvalidArgument);
    }
    const [id, createdAt, expiresAt] = [randomUUID(), new Date(now()), new Date(now() + VALID_FOR_MS)];
    const change = { tool, baseVersion: current.version, after };
    if (await insertProposal(pool, { id, workspaceId, userId, chatId, ...change, createdAt, expiresAt })) {
      return { proposalId: id };
    }
    throw new ConnectError(
      `the tool was just changed, or this chat has ${MAX_OPEN} open proposals`,
      Code.FailedPrecondition,
    );
  },

  async readTool({ pool }, { workspaceId, name }) {
    const row = await findTool(pool, workspaceId, name);
    if (!row) throw noSuchTool();
    return { tool: toolMessage(row) };
  },

  async readLastProposal({ pool, now }, { chatId, ...owner }) {
    const row = await findLastProposal(pool, owner, chatId);
    return row ? { proposal: proposalSummary(row, now()) } : {};
  },

  async getProposal({ pool, now }, { proposalId }, call) {
    const row = isUuid(proposalId) ? await findProposal(pool, principalOf(call), proposalId) : undefined;
    if (!row) throw noSuchProposal();
    const { before, after } = row as { before: JsonObject; after: JsonObject };
    return { proposal: { ...proposalSummary(row, now()), before, after } };
  },

  /** [EXPO-2] [EXPO-4] The user's click is the answer to the question that the card asks. */
  async confirmProposal(context, { proposalId }, call) {
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
      const { tool: name, after: definition, baseVersion: expectedVersion } = proposal;
      const saved = await saveVersion(change, {
        name,
        definition,
        restored: false,
        confirmExposure: true,
        expectedVersion,
      });
      await markConfirmed(change.client, proposalId, saved.version);
      return saved;
    });
    return { tool: toolMessage(row) };
  },
} satisfies Handlers<Context, typeof ProposalService>;

function stateOf({ savedVersion, isSameChange, expiresAt }: ProposalRow, nowMs: number): ProposalState {
  if (savedVersion !== null) return ProposalState.CONFIRMED;
  if (!isSameChange) return ProposalState.OUTDATED;
  return expiresAt.getTime() <= nowMs ? ProposalState.EXPIRED : ProposalState.OPEN;
}

/** Without the definitions. */
function proposalSummary(row: ProposalRow, nowMs: number) {
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

function noSuchProposal(): ConnectError {
  return new ConnectError("no such proposal", Code.NotFound);
}
