import type { Queryable } from "@toolgate/postgres/pool";

/** A model server that an assistant uses. */
export interface ModelServer {
  name: string;
  provider: "openai_compatible" | "anthropic";
  baseUrl: string;
  model: string;
  readsFiles: boolean;
  /** Sealed; null when there is none. */
  apiKey: Buffer | null;
}

/** Those of the names that exist, in the order of the names. */
export async function findModelServers(
  db: Queryable,
  workspaceId: string,
  names: readonly string[],
): Promise<ModelServer[]> {
  const { rows } = await db.query({
    name: "find_model_servers",
    text: `select m.name, m.provider, m.base_url as "baseUrl", m.model, m.reads_files as "readsFiles",
  m.api_key as "apiKey"
from unnest($2::text[]) with ordinality as wanted (name, place)
join chat.model m on m.workspace_id = $1 and m.name = wanted.name order by wanted.place`,
    values: [workspaceId, names],
  });
  return rows;
}
