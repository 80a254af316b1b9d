import * as v from "valibot";
import { id, LIST, oneOf, text, time } from "./search.ts";

export const CALL_KINDS = ["accepted", "refused"] as const;
export const CALL_STATUSES = ["waiting", "running", "succeeded", "failed", "interrupted"] as const;

export const Search = v.object({
  ...LIST,
  kind: oneOf(CALL_KINDS),
  hook: id,
  status: oneOf(CALL_STATUSES),
  external_id: text,
  request_id: text,
  from: time,
  to: time,
});
