import type { Key } from "@toolgate/gen/toolgate/key_auth/v1/key_pb";
import type { Context } from "../context.ts";
import type { KeyRow } from "../store/keys.ts";
import { callsLast24h } from "./calls-last-24h.ts";
import { keyMessage } from "./key-message.ts";

/** Keys of one workspace as they are shown: their calls of the last day, and which tools are red, asked for once. */
export async function keyMessages(context: Context, workspaceId: string, rows: KeyRow[]): Promise<Key[]> {
  const names = [...new Set(rows.flatMap(({ tools }) => tools))];
  const [calls, available] = await Promise.all([
    callsLast24h(
      context,
      rows.map(({ id }) => id),
    ),
    // Keys can be seen, and found for a revocation, while tool-runner is away.
    context.tools.released(workspaceId, names).catch(() => undefined),
  ]);
  const now = context.now();
  return rows.map((row) => keyMessage(row, { callsLast24h: calls.get(row.id) ?? 0, available }, now));
}

export async function keyMessageOf(context: Context, row: KeyRow): Promise<Key> {
  const [message] = await keyMessages(context, row.workspaceId, [row]);
  return message as Key;
}
