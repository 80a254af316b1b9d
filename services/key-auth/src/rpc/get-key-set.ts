import type { Context } from "../context.ts";

export async function getKeySet(context: Context) {
  return { jwksJson: JSON.stringify(await context.tokens.keySet()) };
}
