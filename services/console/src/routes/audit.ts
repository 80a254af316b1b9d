import * as v from "valibot";
import { LIST } from "./search.ts";

export const Search = v.object({ ...LIST });
