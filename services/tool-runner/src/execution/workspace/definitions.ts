import { createHash } from "node:crypto";
import { type CacheSource, createWorkspaceCache, jsonBytes } from "@toolgate/epoch/cache";
import type { Pool } from "@toolgate/postgres/pool";
import { isJsonObject, ownValue } from "@toolgate/rules/json-object";
import { type Compiler, LOAD_LIMIT_MS } from "@toolgate/sandbox/compiler";
import { type ArgumentValidator, createArgumentValidator } from "../../domain/calls/argument-validator.ts";
import { type NumberedSql, numberParameters } from "../../domain/data/named-parameters.ts";
import { type CheckedDefinition, checkDefinition } from "../../domain/definitions/check-definition.ts";
import { type Definition, isToolName } from "../../domain/definitions/definition.ts";
import { SHARED_TOOLS } from "../../domain/definitions/shared-tools.ts";
import { findPreparedQuery, type PreparedQueryRow } from "../../store/prepared-queries.ts";
import { findTool } from "../../store/tools.ts";

/** A tool as it runs. */
export interface LoadedTool {
  name: string;
  version: number;
  definition: Definition;
  validator: ArgumentValidator;
  /** Another one for other code, within the workspace. */
  codeId: string;
}

/** A prepared query as it runs. */
export type LoadedQuery = PreparedQueryRow & NumberedSql;

export type Definitions = ReturnType<typeof createDefinitions>;

const MAX_CACHED_TOOL_BYTES = 128 * 1024 * 1024;
const MAX_CACHED_QUERY_BYTES = 32 * 1024 * 1024;
/** The approximate size of a compiled schema. */
const VALIDATOR_BYTES = 8 * 1024;

/** The version of shared tools and drafts in logs: saved ones count from 1. */
const NO_VERSION = 0;

/** Tools and prepared queries of workspaces, as current as the epoch that the caller knows. */
export function createDefinitions(pool: Pool, compiler: Compiler, source: CacheSource) {
  const tools = createWorkspaceCache<LoadedTool | undefined>(source, {
    name: "tools",
    maxBytes: MAX_CACHED_TOOL_BYTES,
    sizeOf: (tool) => (tool ? VALIDATOR_BYTES + jsonBytes(tool.definition) : 0),
  });
  const queries = createWorkspaceCache<LoadedQuery | undefined>(source, {
    name: "queries",
    maxBytes: MAX_CACHED_QUERY_BYTES,
    sizeOf: jsonBytes,
  });
  const shared = new Map(
    Object.entries(SHARED_TOOLS).map(([name, definition]) => [name, loaded(name, NO_VERSION, definition)]),
  );
  return {
    /** A tool that every workspace has; tools may call it, API keys may not. */
    shared: (name: string) => shared.get(name),
    // Names come from callers and tools: an invalid one is not looked up, and not cached.
    tool: async (workspaceId: string, name: string, epoch: bigint) =>
      isToolName(name)
        ? tools.get(`${workspaceId}/${name}`, epoch, () => loadTool(pool, compiler, workspaceId, name))
        : undefined,
    preparedQuery: async (workspaceId: string, name: string, epoch: bigint) =>
      isToolName(name)
        ? queries.get(`${workspaceId}/${name}`, epoch, () => loadQuery(pool, workspaceId, name))
        : undefined,
  };
}

async function loadQuery(pool: Pool, workspaceId: string, name: string): Promise<LoadedQuery | undefined> {
  const row = await findPreparedQuery(pool, workspaceId, name);
  return row && { ...row, ...numberParameters(row.sql) };
}

async function loadTool(
  pool: Pool,
  compiler: Compiler,
  workspaceId: string,
  name: string,
): Promise<LoadedTool | undefined> {
  const row = await findTool(pool, workspaceId, name);
  if (!row) return undefined;
  const checked = await checkSaved(compiler, workspaceId, row.definition, LOAD_LIMIT_MS);
  if (!checked.ok) {
    const violations = checked.violations.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw new Error(`stored definition of ${name} version ${row.version} cannot run: ${violations}`);
  }
  return loaded(name, row.version, checked.definition);
}

/** Reads a definition as it is saved, with its handler compiled, or lists everything that is wrong with it. */
export async function checkSaved(
  compiler: Compiler,
  workspaceId: string,
  saved: unknown,
  limitMs: number,
): Promise<CheckedDefinition> {
  const source = isJsonObject(saved) ? ownValue(saved, "handler") : undefined;
  const compiled = typeof source === "string" ? await compiler.compile(workspaceId, source, limitMs) : undefined;
  return checkDefinition(saved, compiled);
}

/** A definition that is not saved, as it runs. */
export function loadDraft(name: string, definition: Definition): LoadedTool {
  const code = definition.body.kind === "handler" ? definition.body.code : "";
  const codeId = `${name}/draft/${createHash("sha256").update(code).digest("hex")}`;
  return { ...loaded(name, NO_VERSION, definition), codeId };
}

function loaded(name: string, version: number, definition: Definition): LoadedTool {
  const validator = createArgumentValidator(definition.parameters);
  return { name, version, definition, validator, codeId: `${name}/${version}` };
}
