import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SERVER_USERS } from "@toolgate/service-registry/server-users";
import { eventually } from "@toolgate/testbed/eventually";
import { expect } from "vitest";
import { examine } from "../../src/doctor/doctor.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

type Logins = Record<string, Record<string, string>>;

interface Changed {
  env?: Record<string, string>;
  logins?: Logins;
}

/** An installation of one process per service, and the settings with which the doctor examines it. */
export interface DoctorRig extends AsyncDisposable {
  toolgate: RunningToolgate;
  env: Record<string, string>;
  /** A copy, to be changed. */
  logins(): Logins;
  /** Examines the installation with other variables or logins. */
  examine(changed?: Changed): Promise<Finding[]>;
  /** The folder for `LOGINS` with these logins. */
  folderOf(logins: Logins): Promise<string>;
}

export async function startDoctorRig(): Promise<DoctorRig> {
  await using resources = new AsyncDisposableStack();
  const toolgate = resources.use(await runToolgate("split", { alone: true }));
  const folder = resources.adopt(await mkdtemp(join(tmpdir(), "toolgate-doctor-")), (made) =>
    rm(made, { recursive: true }),
  );
  const env: Record<string, string> = { ...toolgate.env, OPS_URLS: toolgate.opsUrls.join(",") };
  const own: Logins = Object.fromEntries(
    SERVER_USERS.map(({ name, service }) => [
      name,
      {
        ...toolgate.logins[name],
        SERVICE_KEY: toolgate.serviceKeys[service] ?? "",
        SERVICE_PUBLIC_KEYS: env.SERVICE_PUBLIC_KEYS ?? "",
      },
    ]),
  );
  const logins = () => structuredClone(own);
  let made = 0;
  async function folderOf(wanted: Logins): Promise<string> {
    made += 1;
    const path = await mkdtemp(join(folder, `${made}-`));
    for (const [name, variables] of Object.entries(wanted)) {
      const lines = Object.entries(variables).map(([key, value]) => `${key}=${value}`);
      await writeFile(join(path, `${name}.env`), lines.join("\n"));
    }
    return path;
  }
  const examineWith: DoctorRig["examine"] = async (changed = {}) => {
    const LOGINS = await folderOf(changed.logins ?? own);
    return examine({ ...env, LOGINS, ...changed.env });
  };
  // Consumers begin in the background.
  await eventually(async () => expect(await examineWith()).toEqual([]), { deadlineMs: 60_000, everyMs: 500 });
  const owned = resources.move();
  return { toolgate, env, logins, folderOf, examine: examineWith, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
