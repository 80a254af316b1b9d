import { createHash } from "node:crypto";
import { createArgumentValidator } from "../../domain/calls/argument-validator.ts";
import type { Definition } from "../../domain/definitions/definition.ts";
import type { LoadedTool } from "./definitions.ts";

/** The version of a draft in logs: saved ones count from 1. */
const DRAFT_VERSION = 0;

/** A definition that is not saved, as it runs. */
export function loadDraft(name: string, definition: Definition): LoadedTool {
  const { body, parameters } = definition;
  const code = body.kind === "handler" ? body.code : "";
  return {
    name,
    version: DRAFT_VERSION,
    definition,
    validator: createArgumentValidator(parameters),
    codeId: `${name}/draft/${createHash("sha256").update(code).digest("hex")}`,
  };
}
