import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { Api } from "../src/api.ts";
import { startControlPlane } from "../src/control-plane.ts";
import { furnish } from "../src/simulated-cluster.ts";
import "./cluster.ts";

/** One control plane with six simulated nodes for all tests. Its logs stay when it does not start. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "toolgate-cluster-"));
  const log = (line: string) => project.vitest.logger.log(line);
  log(`the control plane starts, with its logs in ${folder}`);
  const control = await startControlPlane(folder, log);
  try {
    await furnish(new Api(control.address));
    log("the simulated nodes are ready");
  } catch (error) {
    await control[Symbol.asyncDispose]();
    throw error;
  }
  project.provide("cluster", { address: control.address, kubeconfig: control.kubeconfig, folder });
  return async () => {
    await control[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  };
}
