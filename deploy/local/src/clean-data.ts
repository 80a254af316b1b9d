import { fileURLToPath } from "node:url";
import { refuseForeignFolder, removeDataFolder } from "@toolgate/local-servers/data-folder";
import { readConfig } from "./config.ts";
import { lockDataFolder } from "./data-lock.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
try {
  const { dataDir, port } = readConfig(process.env, root);
  await refuseForeignFolder(dataDir);
  await using _lock = await lockDataFolder(dataDir, port);
  await removeDataFolder(dataDir);
  process.stdout.write(`removed ${dataDir}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
