import * as v from "valibot";
import { LIST, oneOf, text, time } from "./search.ts";

export const ENTRY_TYPES = ["api_key", "hook", "chat", "dry_run", "public_api", "scheduled_task"] as const;
export const OUTCOMES = ["succeeded", "failed"] as const;

export const Search = v.object({
  ...LIST,
  tool: text,
  entry: oneOf(ENTRY_TYPES),
  outcome: oneOf(OUTCOMES),
  /** Id of the key, hook or user that called. */
  caller: text,
  request: text,
  from: time,
  to: time,
});
