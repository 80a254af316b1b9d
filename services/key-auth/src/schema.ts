import { fileURLToPath } from "node:url";

export const SCHEMA = "key_auth";
export const MIGRATIONS_DIR = fileURLToPath(new URL("../migrations", import.meta.url));
