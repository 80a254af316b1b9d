import type { Queryable } from "@toolgate/postgres/pool";
import type { Price } from "../domain/model-server.ts";

/** A model server that an assistant uses. */
export interface ModelServer {
  name: string;
  provider: "openai_compatible" | "anthropic";
  baseUrl: string;
  model: string;
  readsFiles: boolean;
  asksForUsage: boolean;
  thinksFirst: boolean;
  /** Sealed; null when there is none. */
  apiKey: Buffer | null;
}

/** The models with these names, in the order of the names. Missing ones are left out. */
export async function findModelServers(
  db: Queryable,
  workspaceId: string,
  names: readonly string[],
): Promise<ModelServer[]> {
  const { rows } = await db.query({
    name: "find_model_servers",
    text: `select m.name, m.provider, m.base_url as "baseUrl", m.model, m.reads_files as "readsFiles",
  m.asks_for_usage as "asksForUsage", m.thinks_first as "thinksFirst", m.api_key as "apiKey"
from unnest($2::text[]) with ordinality as wanted (name, place)
join chat.model m on m.workspace_id = $1 and m.name = wanted.name order by wanted.place`,
    values: [workspaceId, names],
  });
  return rows;
}

/** A model with who saved it. */
export interface ModelRow extends Omit<ModelServer, "apiKey"> {
  price: Price | undefined;
  hasApiKey: boolean;
  savedAt: Date;
  savedBy: string;
}

const ROW = `name, provider, base_url as "baseUrl", model, reads_files as "readsFiles",
  asks_for_usage as "asksForUsage", thinks_first as "thinksFirst", api_key is not null as "hasApiKey",
  saved_at as "savedAt", saved_by as "savedBy", currency, input_price as "inputPrice", output_price as "outputPrice"`;

/** Sorted by name. */
export async function listModels(db: Queryable, workspaceId: string): Promise<ModelRow[]> {
  const { rows } = await db.query(`select ${ROW} from chat.model where workspace_id = $1 order by name`, [workspaceId]);
  return rows.map(withPrice);
}

/** Creates a model or replaces it. */
export async function saveModel(
  db: Queryable,
  model: ModelServer & { price: Price | undefined; workspaceId: string; savedAt: Date; savedBy: string },
): Promise<ModelRow> {
  const { workspaceId, name, provider, baseUrl, readsFiles, apiKey, savedAt, savedBy, price } = model;
  const { rows } = await db.query(
    `insert into chat.model (workspace_id, name, provider, base_url, model, reads_files, api_key, saved_at, saved_by,
       currency, input_price, output_price, asks_for_usage, thinks_first)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
     on conflict (workspace_id, name) do update set provider = excluded.provider, base_url = excluded.base_url,
       model = excluded.model, reads_files = excluded.reads_files, api_key = excluded.api_key,
       saved_at = excluded.saved_at, saved_by = excluded.saved_by, currency = excluded.currency,
       input_price = excluded.input_price, output_price = excluded.output_price,
       asks_for_usage = excluded.asks_for_usage, thinks_first = excluded.thinks_first
     returning ${ROW}`,
    [
      workspaceId,
      name,
      provider,
      baseUrl,
      model.model,
      readsFiles,
      apiKey,
      savedAt,
      savedBy,
      price?.currency ?? null,
      price?.inputMicros ?? null,
      price?.outputMicros ?? null,
      model.asksForUsage,
      model.thinksFirst,
    ],
  );
  return withPrice(rows[0]);
}

type StoredModel = Omit<ModelRow, "price"> & { currency: string | null; inputPrice: number; outputPrice: number };

function withPrice({ currency, inputPrice, outputPrice, ...row }: StoredModel): ModelRow {
  if (currency === null) return { ...row, price: undefined };
  return { ...row, price: { currency, inputMicros: BigInt(inputPrice), outputMicros: BigInt(outputPrice) } };
}

/** False when there was none. */
export async function deleteModel(db: Queryable, workspaceId: string, name: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from chat.model where workspace_id = $1 and name = $2", [
    workspaceId,
    name,
  ]);
  return rowCount === 1;
}
