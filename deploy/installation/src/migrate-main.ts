import { readConfig } from "@toolgate/service-host/env";
import { createLogger } from "@toolgate/service-host/process/logger";
import { readDatabaseUrl } from "@toolgate/service-host/server-addresses";
import { readRolePasswords } from "./logins.ts";
import { migrateAll } from "./migrate.ts";

const { databaseUrl, logins } = readConfig(process.env, (reader) => ({
  databaseUrl: readDatabaseUrl(reader),
  logins: reader.text("LOGINS", ""),
}));
const applied = await migrateAll(databaseUrl, logins === "" ? {} : await readRolePasswords(logins));
createLogger({ service: "migrations", level: "info" }).info({ applied }, "the schemas are up to date");
