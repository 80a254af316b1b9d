import { readConfig } from "@toolgate/service-host/env";
import { createLogger } from "@toolgate/service-host/logger";
import { migrateAll } from "./migrate.ts";

const { databaseUrl } = readConfig(process.env, (reader) => ({ databaseUrl: reader.text("DATABASE_URL") }));
const applied = await migrateAll(databaseUrl);
createLogger({ service: "migrations", level: "info" }).info({ applied }, "the schemas are up to date");
