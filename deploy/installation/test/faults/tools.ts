/** One in this many calls, always of `emitter`, emits a second event, for a slow receiver. */
const CALLS_PER_SLOW_EVENT = 36;
const SLOW_CALL = 5;

/** The tools that are called in turn; each call has its own number, which the tool returns. */
export const TOOLS = {
  plain: { handler: "export default async ({ n }) => ({ success: true, n });" },
  reported: { webhook_event: true, handler: "export default async ({ n }) => ({ success: true, n });" },
  emitter: {
    handler: `export default async ({ n }, ctx) => {
      await ctx.emitWebhook("number.seen", { n });
      if (n % ${CALLS_PER_SLOW_EVENT} === ${SLOW_CALL}) await ctx.emitWebhook("number.slow", { n });
      return { success: true, n };
    };`,
  },
} as const;

export type ToolName = keyof typeof TOOLS;

/** The types of the events that a call of this tool with this number causes. */
export function eventsOf({ tool, n }: { tool: ToolName; n: number }): string[] {
  if (tool === "reported") return ["tool.completed"];
  if (tool !== "emitter") return [];
  return ["custom.number.seen", ...(n % CALLS_PER_SLOW_EVENT === SLOW_CALL ? ["custom.number.slow"] : [])];
}
