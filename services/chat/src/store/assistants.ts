import { fromJson, type JsonValue } from "@bufbuild/protobuf";
import { type AssistantDefinition, AssistantDefinitionSchema } from "@toolgate/gen/toolgate/chat/v1/assistant_pb";
import type { Queryable } from "@toolgate/postgres/pool";

/** The newest version of an assistant. Undefined when there is none of this name, or it was deleted. */
export async function findDefinition(
  db: Queryable,
  workspaceId: string,
  name: string,
): Promise<AssistantDefinition | undefined> {
  const { rows } = await db.query({
    name: "find_definition",
    text: `select definition, deleted from chat.assistant where workspace_id = $1 and name = $2
order by version desc limit 1`,
    values: [workspaceId, name],
  });
  const [row] = rows as { definition: JsonValue; deleted: boolean }[];
  if (!row || row.deleted) return undefined;
  return fromJson(AssistantDefinitionSchema, row.definition, { ignoreUnknownFields: true });
}
