import { chmod, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { serversOfRun } from "./servers/servers-of-run.ts";

const OPEN_TO_PASS_THROUGH = 0o711;

/** An empty folder for one test; removed after the test run. Other users can enter but not list it. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(serversOfRun().runFolder, "folder-"));
  await chmod(folder, OPEN_TO_PASS_THROUGH);
  return folder;
}
