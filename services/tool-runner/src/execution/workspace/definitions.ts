import { createHash } from "node:crypto";
import { type CacheSource, createWorkspaceCache } from "@toolgate/epoch/cache";
import type { Pool } from "@toolgate/postgres/pool";
import { type Compiler, LOAD_LIMIT_MS } from "@toolgate/sandbox/compiler";
import { type ArgumentValidator, createArgumentValidator } from "../../domain/calls/argument-validator.ts";
import { type NumberedSql, numberParameters } from "../../domain/data/named-parameters.ts";
import { type Definition, isToolName } from "../../domain/definitions/definition.ts";
import { SHARED_TOOLS } from "../../domain/definitions/shared-tools.ts";
import { findPreparedQuery, type PreparedQueryRow } from "../../store/prepared-queries.ts";
import { findTool } from "../../store/tools.ts";
import { checkSavedDefinition } from "./check-saved.ts";

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

/** Tools and prepared queries of workspaces, as current as the epoch that the caller knows. */
export interface Definitions {
  tool(workspaceId: string, name: string, epoch: bigint): Promise<LoadedTool | undefined>;
  /** A tool that every workspace has; tools may call it, API keys may not. */
  shared(name: string): LoadedTool | undefined;
  preparedQuery(workspaceId: string, name: string, epoch: bigint): Promise<LoadedQuery | undefined>;
}

const MAX_CACHED_TOOL_BYTES = 128 * 1024 * 1024;
const MAX_CACHED_QUERY_BYTES = 32 * 1024 * 1024;
const BYTES_PER_CHAR = 2;
/** Of a parameter, in memory. */
const BYTES_PER_NAME = 64;
/** The approximate size of a compiled schema. */
const VALIDATOR_BYTES = 8 * 1024;

/** The version of shared tools and drafts in logs: saved ones count from 1. */
const NO_VERSION = 0;

interface DefinitionDependencies {
  pool: Pool;
  compiler: Compiler;
}

export function createDefinitions(deps: DefinitionDependencies, source: CacheSource): Definitions {
  const tools = createWorkspaceCache<LoadedTool | undefined>(source, {
    name: "tools",
    maxBytes: MAX_CACHED_TOOL_BYTES,
    sizeOf: (tool) => (tool ? VALIDATOR_BYTES + BYTES_PER_CHAR * JSON.stringify(tool.definition).length : 0),
  });
  const queries = createWorkspaceCache<LoadedQuery | undefined>(source, {
    name: "queries",
    maxBytes: MAX_CACHED_QUERY_BYTES,
    sizeOf: (query) =>
      query ? BYTES_PER_CHAR * (query.sql.length + query.text.length) + BYTES_PER_NAME * query.names.length : 0,
  });
  const shared = new Map(
    Object.entries(SHARED_TOOLS).map(([name, definition]) => [name, loaded(name, NO_VERSION, definition)]),
  );
  return {
    shared: (name) => shared.get(name),
    // Names come from callers and tools: an invalid one is not looked up, and not cached.
    tool: async (workspaceId, name, epoch) =>
      isToolName(name)
        ? tools.get(`${workspaceId}/${name}`, epoch, () => loadTool(deps, workspaceId, name))
        : undefined,
    preparedQuery: async (workspaceId, name, epoch) =>
      isToolName(name)
        ? queries.get(`${workspaceId}/${name}`, epoch, () => loadQuery(deps, workspaceId, name))
        : undefined,
  };
}

async function loadQuery(
  { pool }: DefinitionDependencies,
  workspaceId: string,
  name: string,
): Promise<LoadedQuery | undefined> {
  const row = await findPreparedQuery(pool, workspaceId, name);
  if (!row) return undefined;
  return { ...row, ...numberParameters(row.sql) };
}

async function loadTool(
  { pool, compiler }: DefinitionDependencies,
  workspaceId: string,
  name: string,
): Promise<LoadedTool | undefined> {
  const row = await findTool(pool, workspaceId, name);
  if (!row) return undefined;
  const checked = await checkSavedDefinition(row.definition, (source) =>
    compiler.compile(workspaceId, source, LOAD_LIMIT_MS),
  );
  if (!checked.ok) {
    const violations = checked.violations.map(({ path, message }) => `${path}: ${message}`).join("; ");
    throw new Error(`stored definition of ${name} version ${row.version} cannot run: ${violations}`);
  }
  return loaded(name, row.version, checked.definition);
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
