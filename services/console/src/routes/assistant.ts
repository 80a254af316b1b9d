import * as v from "valibot";
import { count, oneOf, text } from "./search.ts";

export const ASSISTANT_TABS = ["definition", "playground", "versions"] as const;

/** `version`: the one that is open among the versions. `chat`: the one in the playground. */
export const Search = v.object({ tab: oneOf(ASSISTANT_TABS), version: count, at: count, chat: text });
