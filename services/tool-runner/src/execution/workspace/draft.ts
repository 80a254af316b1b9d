import { createHash } from "node:crypto";
import type { Pool } from "@toolgate/postgres/pool";
import { createArgumentValidator } from "../../domain/calls/argument-validator.ts";
import type { Definition } from "../../domain/definitions/definition.ts";
import { findHarm } from "../../store/code-history.ts";
import type { LoadedTool } from "./definitions.ts";

/** The version of a draft in logs: saved ones count from 1. */
const DRAFT_VERSION = 0;

/** A definition that is not saved, as it runs. Its code is new, and as far from other code as that of its workspace must be. */
export async function loadDraft(
  pool: Pool,
  workspaceId: string,
  name: string,
  definition: Definition,
): Promise<LoadedTool> {
  const { body, parameters } = definition;
  const code = body.kind === "handler" ? body.code : "";
  return {
    name,
    version: DRAFT_VERSION,
    definition,
    validator: createArgumentValidator(parameters),
    codeId: `${name}/draft/${createHash("sha256").update(code).digest("hex")}`,
    completed: false,
    harmedAtMs: (await findHarm(pool, workspaceId))?.getTime(),
  };
}
