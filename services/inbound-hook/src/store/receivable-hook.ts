import type { Queryable } from "@toolgate/postgres/pool";
import type { Format, Preset } from "../domain/hook.ts";
import type { Lane } from "./queue.ts";

/** What must be known about a hook to receive its calls. */
export interface ReceivableRow {
  urlHash: Buffer;
  id: number;
  workspaceId: string;
  format: Format;
  preset: Preset | null;
  /** Equals the kind of its target. */
  lane: Lane;
  limit: number;
  toleranceSeconds: number;
  /** Sealed. */
  secret: Buffer;
  /** False also for a deleted hook. */
  active: boolean;
}

/** The hooks with these hashes of URLs; deactivated and deleted ones as well. */
export async function loadReceivable(db: Queryable, urlHashes: Buffer[]): Promise<ReceivableRow[]> {
  const { rows } = await db.query({
    name: "load_receivable",
    text: `select url_hash as "urlHash", id, workspace_id as "workspaceId", format, preset, target_kind as lane,
             call_limit as "limit", tolerance_seconds as "toleranceSeconds", secret,
             active and deleted_at is null as active
           from inbound_hook.hook where url_hash = any($1::bytea[])`,
    values: [urlHashes],
  });
  return rows;
}
