import { provision } from "@toolgate/key-auth/operator/provision";
import { loginTo, type Management } from "@toolgate/local/demo/management";
import type { RunningToolgate } from "../running-toolgate.ts";

/** As many calls in a minute as a key or a hook may have. */
const LIMIT = 10_000;

/** A workspace of its own, with an administrator and a key for some of its tools. */
export interface AttackedWorkspace {
  manage: Management;
  saveTool(name: string, definition: Record<string, unknown>): Promise<void>;
  createKey(tools: readonly string[]): Promise<string>;
}

export async function addWorkspace(toolgate: RunningToolgate, workspace: string): Promise<AttackedWorkspace> {
  const account = { workspace, email: `${workspace}@example.test`, password: "a password" };
  await provision(toolgate.pool, { ...account, role: "admin" });
  const manage = await loginTo(toolgate.baseUrl, account);
  if (!manage) throw new Error(`the administrator of ${workspace} cannot log in`);
  return {
    manage,
    async saveTool(name, definition) {
      const request = { name, definition: { description: `Tool ${name}`, ...definition }, confirmExposure: true };
      await manage("tool_runner.v1.ToolService/SaveTool", request);
    },
    async createKey(tools) {
      const key = { name: "key", tools, limit: LIMIT };
      const { secret } = await manage<{ secret: string }>("key_auth.v1.KeyService/CreateKey", key);
      return secret;
    },
  };
}
