import type { Queryable } from "@toolgate/postgres/pool";
import type { CallRecord } from "../domain/turn.ts";
import { resetUpTo } from "./unfinished-resets.ts";

/** A chat in the list of its owner. */
export interface ListedChat {
  id: number;
  chatId: string;
  /** The beginning of its first message; empty after a reset. */
  title: string;
  createdAt: Date;
  usedAt: Date;
  /** Of its newest turn; empty when that is no longer stored. */
  assistant: string;
}

const TITLE_CHARACTERS = 200;

/** The chats of a user that were created before one of them, newest first. */
export async function listChats(
  db: Queryable,
  { workspaceId, owner, before, limit }: { workspaceId: string; owner: string; before: number; limit: number },
): Promise<ListedChat[]> {
  const { rows } = await db.query(
    `select c.id, c.chat_id as "chatId", c.created_at as "createdAt", c.used_at as "usedAt",
  coalesce((select left(m.content, ${TITLE_CHARACTERS}) from chat.message m
    where m.chat = c.id and m.role = 'user' and m.event_id > ${resetUpTo("c.id")}
    order by m.event_id limit 1), '') as title,
  coalesce((select t.assistant from chat.turn t where t.chat = c.id order by t.number desc limit 1), '') as assistant
from chat.chat c
where c.workspace_id = $1 and c.owner = $2 and c.id < $3
order by c.id desc limit $4`,
    [workspaceId, owner, before, limit],
  );
  return rows;
}

export type LoggedCall = Omit<CallRecord, "step" | "extra" | "suppressed"> & { suppressed: string[]; startedAt: Date };

/** Undefined when the chat has no such call, or it is no longer stored. */
export async function findCall(db: Queryable, chat: number, id: string): Promise<LoggedCall | undefined> {
  const { rows } = await db.query(
    `select c.id, c.tool, c.args, c.status, c.result, c.duration_ms as "durationMs", c.suppressed,
  c.started_at as "startedAt"
from chat.turn t join chat.tool_call c on c.turn = t.id
where t.chat = $1 and c.id = $2`,
    [chat, id],
  );
  return rows[0];
}
