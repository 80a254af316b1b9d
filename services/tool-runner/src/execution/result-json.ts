import { setImmediate as eventLoopTurn } from "node:timers/promises";

/** JSON text that takes about a millisecond to make. */
const CHARACTERS_PER_TURN = 128 * 1024;

/** The JSON text of a query's result, made in several turns of the event loop if it has many bytes. */
export async function resultJson({ rows, ...rest }: { success: boolean; rows?: readonly unknown[] }): Promise<string> {
  if (!rows) return JSON.stringify(rest);
  const parts: string[] = [];
  let characters = 0;
  for (const row of rows) {
    const json = JSON.stringify(row);
    parts.push(json);
    characters += json.length;
    if (characters < CHARACTERS_PER_TURN) continue;
    characters = 0;
    await eventLoopTurn();
  }
  return `{"rows":[${parts.join(",")}],${JSON.stringify(rest).slice(1)}`;
}
