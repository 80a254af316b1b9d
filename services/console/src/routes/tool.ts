import * as v from "valibot";
import { oneOf, text } from "./search.ts";

export const TOOL_TABS = ["definition", "api", "versions"] as const;

export const Search = v.object({ tab: oneOf(TOOL_TABS), version: text });
