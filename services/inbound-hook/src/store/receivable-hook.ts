import type { Queryable } from "@toolgate/postgres/pool";
import type { Format, Preset } from "../domain/hook.ts";
import type { Lane } from "./queue.ts";

/** What must be known about a hook to receive its calls. */
export interface ReceivableRow {
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

/** The hook with this hash of its URL, also if it is deactivated or deleted. */
export async function loadReceivable(db: Queryable, urlHash: Buffer): Promise<ReceivableRow | undefined> {
  const { rows } = await db.query({
    name: "load_receivable",
    text: `select id, workspace_id as "workspaceId", format, preset, target_kind as lane,
             call_limit as "limit", tolerance_seconds as "toleranceSeconds", secret,
             active and deleted_at is null as active
           from inbound_hook.hook where url_hash = $1`,
    values: [urlHash],
  });
  return rows[0];
}
