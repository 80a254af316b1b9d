import * as v from "valibot";
import { LIST, text } from "./search.ts";

export const Search = v.object({ ...LIST, search: text });
