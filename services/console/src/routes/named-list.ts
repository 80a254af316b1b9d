import * as v from "valibot";
import { LIST } from "./search.ts";

/** Of a short list whose rows are opened by their names. */
export const Search = v.object(LIST);
