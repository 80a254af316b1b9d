import { setImmediate as eventLoopTurn } from "node:timers/promises";

/** JSON text that takes about a millisecond to make. */
const CHARACTERS_PER_PART = 128 * 1024;

/** The JSON text of a query's result in parts, each made in a turn of the event loop of its own. */
export async function resultJson({
  rows,
  ...rest
}: {
  success: boolean;
  rows?: readonly unknown[];
}): Promise<string[]> {
  if (!rows) return [JSON.stringify(rest)];
  const parts: string[] = [];
  let rowsOfPart: string[] = [];
  let characters = 0;
  const endPart = () => {
    parts.push((parts.length === 0 ? '{"rows":[' : ",") + rowsOfPart.join(","));
    rowsOfPart = [];
    characters = 0;
  };
  for (const row of rows) {
    const json = JSON.stringify(row);
    rowsOfPart.push(json);
    characters += json.length;
    if (characters < CHARACTERS_PER_PART) continue;
    endPart();
    await eventLoopTurn();
  }
  if (parts.length === 0 || rowsOfPart.length > 0) endPart();
  parts.push(`${parts.pop()}],${JSON.stringify(rest).slice(1)}`);
  return parts;
}
