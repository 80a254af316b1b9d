import * as v from "valibot";
import { text } from "./search.ts";

/** `chat`: the conversation. `tool`: the one that the user came to release. */
export const Search = v.object({ chat: text, tool: text });
