import * as v from "valibot";
import { id, LIST, oneOf, text, time } from "./search.ts";

export const DELIVERY_STATUSES = ["pending", "retrying", "delivered", "failed", "cancelled"] as const;
export const DELIVERY_KINDS = ["event", "test", "resend", "replay"] as const;

export const Search = v.object({
  ...LIST,
  endpoint: id,
  status: oneOf(DELIVERY_STATUSES),
  type: text,
  kind: oneOf(DELIVERY_KINDS),
  event: text,
  request: text,
  from: time,
  to: time,
});
