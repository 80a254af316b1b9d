import type { Queryable } from "@toolgate/postgres/pool";

/** Asks the worker of the chat's running turn to stop it. Undefined when no turn runs. */
export async function requestStop(db: Queryable, chat: number): Promise<{ turn: string } | undefined> {
  const { rows } = await db.query(
    `update chat.turn t set stop_requested = true
     from chat.chat c
     where c.id = $1 and t.id = c.current_turn and t.status in ('ready', 'running')
     returning t.id as turn`,
    [chat],
  );
  return rows[0];
}
