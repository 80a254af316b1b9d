import * as v from "valibot";
import { LIST, oneOf, text } from "./search.ts";

export const HOOK_STATES = ["active", "waiting", "failing", "off"] as const;

export const Search = v.object({ ...LIST, search: text, status: oneOf(HOOK_STATES) });
