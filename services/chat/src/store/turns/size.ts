import { pipelined } from "@toolgate/postgres/fair-queue/pipeline";
import type { Pool } from "@toolgate/postgres/pool";
import { MAX_MESSAGES } from "../../domain/turn.ts";
import { resetUpTo } from "../unfinished-resets.ts";

const SIZE = `select (
  select coalesce(sum(octet_length(newest.content)), 0) from (
    select m.content from chat.message m
    where m.chat = $1 and m.event_id <= $2 and m.event_id > ${resetUpTo("$1")} order by m.event_id desc limit ${MAX_MESSAGES}
  ) newest
) + (
  select coalesce(sum(octet_length(s.content)), 0) from chat.step s where s.turn = $3
) + (
  select coalesce(sum(octet_length(t.args) + octet_length(t.result)), 0) from chat.tool_call t where t.turn = $3
) + (
  select coalesce(sum(octet_length(e.event)), 0) from chat.event e where e.chat = $1 and e.id > $2 and e.turn = $3
) as bytes`;

/** How many bytes `loadTurn` would read. */
export async function sizeOfTurn(
  pool: Pool,
  { id, chat, firstEventId }: { id: string; chat: number; firstEventId: number },
): Promise<number> {
  const [size] = await pipelined(pool, [{ name: "size_of_turn", text: SIZE, values: [chat, firstEventId, id] }]);
  return size?.rows[0].bytes;
}
