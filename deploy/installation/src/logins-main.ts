import { readConfig } from "@toolgate/service-host/env";
import { writeLogins } from "./logins.ts";

const addresses = readConfig(process.env, (reader) => ({
  databaseUrl: reader.text("DATABASE_URL"),
  natsUrl: reader.text("NATS_URL"),
  redisUrl: reader.text("REDIS_URL"),
}));
const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write("Usage: node deploy/installation/src/logins-main.ts <folder>\n");
  process.exitCode = 1;
} else {
  const files = await writeLogins(folder, addresses);
  process.stdout.write(`${folder}: ${files.join(", ")}\n`);
}
