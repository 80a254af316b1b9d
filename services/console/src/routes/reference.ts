import * as v from "valibot";
import { text } from "./search.ts";

/** The key is nowhere in it. */
export const Search = v.object({ tool: text, search: text });
