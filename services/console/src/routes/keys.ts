import * as v from "valibot";
import { LIST, oneOf, text } from "./search.ts";

export const KEY_STATUSES = ["active", "revoked", "expired"] as const;
export const KEY_ORDERS = ["name", "last-used", "calls", "expiry"] as const;

export const Search = v.object({
  ...LIST,
  search: text,
  tool: text,
  status: oneOf(KEY_STATUSES),
  tools: oneOf(["unavailable"]),
  order: oneOf(KEY_ORDERS),
});
