import * as v from "valibot";
import { count, oneOf } from "./search.ts";
import { TOOL_KINDS } from "./tools.ts";

export const TOOL_TABS = ["definition", "api", "versions"] as const;

/** `kind`: of a tool that is not saved yet. `version`: the one that is open among the versions. */
export const Search = v.object({ tab: oneOf(TOOL_TABS), version: count, kind: oneOf(TOOL_KINDS), at: count });
