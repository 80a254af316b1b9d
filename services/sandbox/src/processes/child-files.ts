import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const SANDBOX_FOLDER = dirname(import.meta.dirname);
const ENGINE_FOLDER = dirname(createRequire(import.meta.url).resolve("isolated-vm/package.json"));
const ENGINE_LOADER_FOLDER = dirname(createRequire(join(ENGINE_FOLDER, "package.json")).resolve("node-gyp-build"));

/** What a child reads: its own sources and isolated-vm. */
export const READABLE_FOLDERS: readonly string[] = [SANDBOX_FOLDER, ENGINE_FOLDER, ENGINE_LOADER_FOLDER];
export const CHILD_PROGRAM = join(SANDBOX_FOLDER, "child/main.ts");
/**
 * A program in Perl, which is on every Debian, that loads a filter of system calls. Bubblewrap could do it too, but needs
 * namespaces for that, which a child may no longer make.
 */
export const FILTER_LOADER = join(SANDBOX_FOLDER, "isolation/seccomp/load-filter.pl");
