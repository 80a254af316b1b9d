import * as v from "valibot";
import { LIST, oneOf, text } from "./search.ts";

export const TOOL_KINDS = ["handler", "api", "query"] as const;
export const TOOL_FLAGS = [
  "external_api",
  "external_api_write",
  "public_api",
  "inbound_hook",
  "inbound_hook_write",
  "webhook_event",
  "async",
] as const;

export const Search = v.object({
  ...LIST,
  search: text,
  kind: oneOf(TOOL_KINDS),
  flag: oneOf(TOOL_FLAGS),
  order: oneOf(["saved"]),
});
