import { fileURLToPath } from "node:url";

export const SCHEMA = "tool_runner";
export const MIGRATIONS_DIR = fileURLToPath(new URL("../migrations", import.meta.url));
