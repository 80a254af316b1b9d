import type { Setup, TopologyKind } from "../installation.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

/** A tool that returns its arguments and whether the run is read-only. */
export const ECHO = {
  external_api: true,
  parameters: {
    type: "object",
    properties: { text: { type: "string", maxLength: 20 }, count: { type: "integer", minimum: 1 } },
    required: ["text"],
  },
  handler: "export default async (args, ctx) => ({ success: true, args, read_only: ctx.read_only });",
};

/** An installation with the tool `echo`. */
export async function runWithEcho(kind: TopologyKind, setup: Setup = {}): Promise<RunningToolgate> {
  const toolgate = await runToolgate(kind, setup);
  await toolgate.saveTool("echo", ECHO);
  return toolgate;
}
