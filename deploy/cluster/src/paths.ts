import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
/** The Go module with the versions of all programs. */
export const GO_MODULE = fileURLToPath(new URL("../go/", import.meta.url));
/** Compiled programs; `make clean` removes them. */
export const PROGRAMS = join(REPOSITORY, ".tools/cluster");
