import { ARRAYS } from "./arrays.ts";
import { JOBS_AND_CODE } from "./jobs-and-code.ts";
import { LANGUAGES } from "./languages.ts";
import { MEMORY } from "./memory.ts";
import { PATTERNS } from "./patterns.ts";
import { RESULTS_AND_CALLS } from "./results-and-calls.ts";
import { STRUCTURES } from "./structures.ts";
import { TEXT } from "./text.ts";

/**
 * Bodies of handlers that take as much CPU time or memory as they can get, or try to disturb the sandbox in another way,
 * by topic. Most of them stay inside one built-in function, where the engine cannot interrupt them.
 */
export const TOPICS = {
  arrays: ARRAYS,
  patterns: PATTERNS,
  "texts and numbers": TEXT,
  memory: MEMORY,
  structures: STRUCTURES,
  "languages and dates": LANGUAGES,
  "jobs and code": JOBS_AND_CODE,
  "results and host calls": RESULTS_AND_CALLS,
} as const;

export type Topic = keyof typeof TOPICS;

/** One way to attack. `body` is the body of a handler. */
export interface AttackKind {
  topic: Topic;
  body: string;
}

export const KINDS: readonly AttackKind[] = (Object.keys(TOPICS) as Topic[]).flatMap((topic) =>
  TOPICS[topic].map((body) => ({ topic, body })),
);

/** With `args.first` the run has called the host when it attacks. Another `note` makes another version of the tool. */
export function attackSource(body: string, note: unknown = ""): string {
  return `export default async (args, ctx) => { /* ${String(note)} */ if (args.first) await ctx.callTool("x"); ${body}; return 1 }`;
}
