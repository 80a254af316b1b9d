import { fromJson, type JsonValue, toJson } from "@bufbuild/protobuf";
import { type AssistantDefinition, AssistantDefinitionSchema } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Client, Queryable } from "@toolgate/postgres/pool";
import { BUILDER_NAME, builderDefinition } from "../domain/assistants/builder.ts";
import { BUILT_IN_DEFINITION, BUILT_IN_NAME } from "../domain/assistants/built-in.ts";

/** One version of an assistant. */
export interface AssistantRow {
  name: string;
  version: number;
  definition: AssistantDefinition;
  savedAt: Date;
  /** Who saved it: an email address. */
  savedBy: string;
}

type StoredAssistant = Omit<AssistantRow, "definition"> & { definition: JsonValue };

const COLUMNS = 'name, version, definition, saved_at as "savedAt", saved_by as "savedBy"';
const MAX_LISTED_VERSIONS = 100;

function rowOf({ definition, ...row }: StoredAssistant): AssistantRow {
  return { ...row, definition: parse(definition) };
}

/** The newest version of an assistant. Undefined when there is none of this name, or it was deleted. */
export async function findDefinition(
  db: Queryable,
  workspaceId: string,
  name: string,
): Promise<AssistantDefinition | undefined> {
  return toDefinition(name, await findNewest(db, workspaceId, name));
}

/** The newest version of one that was saved and is not deleted. */
export async function findAssistant(
  db: Queryable,
  workspaceId: string,
  name: string,
): Promise<AssistantRow | undefined> {
  const newest = await findNewest(db, workspaceId, name);
  if (!newest || newest.deleted) return undefined;
  const { deleted: _, ...row } = newest;
  return rowOf(row);
}

async function findNewest(
  db: Queryable,
  workspaceId: string,
  name: string,
): Promise<(StoredAssistant & { deleted: boolean }) | undefined> {
  const { rows } = await db.query({
    name: "find_assistant",
    text: `select ${COLUMNS}, deleted from chat.assistant where workspace_id = $1 and name = $2
order by version desc limit 1`,
    values: [workspaceId, name],
  });
  return rows[0];
}

/** The newest version of an assistant in the database. */
interface StoredDefinition {
  definition: JsonValue;
  deleted: boolean;
}

/** Undefined when there is no such assistant, or it was deleted. The builder asks the models of the one that is `stored`. */
export function toDefinition(name: string, stored: StoredDefinition | undefined): AssistantDefinition | undefined {
  if (name === BUILDER_NAME) {
    const models = stored && !stored.deleted ? parse(stored.definition).models : [];
    return builderDefinition(models);
  }
  if (!stored) return name === BUILT_IN_NAME ? BUILT_IN_DEFINITION : undefined;
  return stored.deleted ? undefined : parse(stored.definition);
}

function parse(definition: JsonValue): AssistantDefinition {
  return fromJson(AssistantDefinitionSchema, definition, { ignoreUnknownFields: true });
}

/** The newest version of each, by name. */
export async function listAssistants(db: Queryable, workspaceId: string): Promise<AssistantRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from (
       select distinct on (name) * from chat.assistant where workspace_id = $1 order by name, version desc
     ) newest
     where not deleted order by name`,
    [workspaceId],
  );
  return rows.map(rowOf);
}

/** Newest first. */
export async function listAssistantVersions(db: Queryable, workspaceId: string, name: string): Promise<AssistantRow[]> {
  const { rows } = await db.query(
    `select ${COLUMNS} from chat.assistant where workspace_id = $1 and name = $2
     order by version desc limit ${MAX_LISTED_VERSIONS}`,
    [workspaceId, name],
  );
  return rows.map(rowOf);
}

/** Saves the next version. The workspace's settings are locked. */
export async function insertAssistantVersion(
  client: Client,
  assistant: Omit<AssistantRow, "version"> & { workspaceId: string },
): Promise<AssistantRow> {
  const { workspaceId, name, definition, savedAt, savedBy } = assistant;
  const json = toJson(AssistantDefinitionSchema, definition, { useProtoFieldName: true });
  const { rows } = await client.query(
    `insert into chat.assistant (workspace_id, name, version, definition, saved_at, saved_by)
     select $1, $2, coalesce(max(version), 0) + 1, $3, $4, $5
     from chat.assistant where workspace_id = $1 and name = $2
     returning ${COLUMNS}`,
    [workspaceId, name, JSON.stringify(json), savedAt, savedBy],
  );
  return rowOf(rows[0]);
}

/** False when there was none. */
export async function deleteAssistant(client: Client, workspaceId: string, name: string): Promise<boolean> {
  const { rowCount } = await client.query(
    `update chat.assistant a set deleted = true
     from (
       select version from chat.assistant where workspace_id = $1 and name = $2 order by version desc limit 1
     ) newest
     where a.workspace_id = $1 and a.name = $2 and a.version = newest.version and not a.deleted`,
    [workspaceId, name],
  );
  return rowCount === 1;
}
