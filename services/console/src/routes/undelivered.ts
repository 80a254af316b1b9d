import * as v from "valibot";
import { id, LIST, text, time } from "./search.ts";

export const Search = v.object({
  ...LIST,
  endpoint: id,
  /** Separated by commas. */
  types: text,
  from: time,
  to: time,
});
