import * as v from "valibot";
import { LIST, oneOf, text } from "./search.ts";

export const ENDPOINT_STATUSES = ["active", "failing", "deactivated"] as const;

export const Search = v.object({ ...LIST, search: text, status: oneOf(ENDPOINT_STATUSES) });
