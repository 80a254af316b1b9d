import * as v from "valibot";
import { LIST, oneOf, text } from "./search.ts";

export const ENDPOINT_STATUSES = ["active", "failing", "deactivated"] as const;

/** `add`: the dialog for a new endpoint is open, with this type chosen. */
export const Search = v.object({ ...LIST, search: text, status: oneOf(ENDPOINT_STATUSES), add: text });
