import * as v from "valibot";
import { oneOf } from "./search.ts";

export const USAGE_DAYS = ["7", "30", "90"] as const;

export const Search = v.object({ days: oneOf(USAGE_DAYS) });
