import { randomUUID } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import type { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import type { Handler } from "@toolgate/service-host/handler";
import type { Context } from "../../context.ts";
import { changedFields } from "../../domain/definitions/changed-fields.ts";
import { insertProposal, MAX_OPEN } from "../../store/proposals.ts";
import { findTool } from "../../store/tools.ts";
import { mustBeValid } from "../tools/save-version.ts";
import { noSuchTool } from "../tools/tool-message.ts";

const VALID_FOR_MS = 10 * 60_000;

export const createProposal: Handler<Context, typeof ProposalService.method.createProposal> = async (
  { pool, compiler, now },
  { workspaceId, userId, chatId, tool, changes = {} },
) => {
  const current = await findTool(pool, workspaceId, tool);
  if (!current) throw noSuchTool();
  const members = Object.entries({ ...(current.definition as object), ...changes });
  const after = Object.fromEntries(members.filter(([name]) => changes[name] !== null));
  await mustBeValid(compiler, workspaceId, after);
  if (changedFields(current.definition, after).length === 0)
    throw new ConnectError("the tool would stay as it is", Code.InvalidArgument);
  const createdAt = new Date(now());
  const expiresAt = new Date(now() + VALID_FOR_MS);
  const id = randomUUID();
  const proposal = { id, workspaceId, userId, chatId, tool, baseVersion: current.version, after, createdAt, expiresAt };
  if (await insertProposal(pool, proposal)) return { proposalId: id };
  throw new ConnectError(
    `the tool was just changed, or this chat has ${MAX_OPEN} open proposals`,
    Code.FailedPrecondition,
  );
};
