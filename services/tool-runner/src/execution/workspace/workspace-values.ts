import { type CacheSource, createWorkspaceCache, jsonBytes } from "@toolgate/epoch/cache";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { mayGoTo, workspaceValueOf } from "../../domain/api-calls/workspace-values.ts";
import { findSealedSecrets } from "../../store/secrets.ts";
import { listVariables } from "../../store/variables.ts";
import { ToolError } from "../errors.ts";
import type { RunScope } from "../run.ts";

export interface Secret {
  name: string;
  value: string;
  /** Where it may be sent: see `mayGoTo`. */
  hosts: readonly string[];
}

type Scope = Pick<RunScope, "workspaceId" | "epoch">;

export type WorkspaceValues = ReturnType<typeof createWorkspaceValues>;

const CACHED = { maxBytes: 32 * 1024 * 1024, sizeOf: jsonBytes };

/** Secrets and variables of workspaces. Both methods reject with a ToolError if the name does not exist. */
export function createWorkspaceValues(deps: { pool: Pool; secretBox: SecretBox } & CacheSource) {
  const { pool, secretBox } = deps;
  const secrets = createWorkspaceCache<Secret[]>(deps, { name: "secrets", ...CACHED });
  const variables = createWorkspaceCache<{ name: string; value: string }[]>(deps, { name: "variables", ...CACHED });

  async function loadSecrets(workspaceId: string): Promise<Secret[]> {
    const rows = await findSealedSecrets(pool, workspaceId);
    return rows.map(({ name, hosts, sealedValue }) => ({
      name,
      hosts,
      value: secretBox.open(sealedValue, secretContext(workspaceId, name)),
    }));
  }

  return {
    /**
     * The secrets among placeholders. They never enter a sandbox, and are added to `usedSecrets`, so that they are removed
     * from logs.
     */
    async secretsIn(
      placeholders: readonly string[],
      { workspaceId, epoch, usedSecrets }: Scope & Pick<RunScope, "usedSecrets">,
    ): Promise<Map<string, Secret>> {
      const found = new Map<string, Secret>();
      for (const placeholder of placeholders) {
        const named = workspaceValueOf(placeholder);
        if (named?.kind !== "secret") continue;
        const all = await secrets.get(workspaceId, epoch, () => loadSecrets(workspaceId));
        const secret = all.find(({ name }) => name === named.name);
        if (!secret) throw new ToolError("NO_SUCH_SECRET", `there is no secret ${named.name}`);
        usedSecrets.add(secret.value);
        found.set(placeholder, secret);
      }
      return found;
    },
    async variable(name: string, { workspaceId, epoch }: Scope) {
      const all = await variables.get(workspaceId, epoch, () => listVariables(pool, workspaceId));
      const found = all.find((variable) => variable.name === name);
      if (!found) throw new ToolError("NO_SUCH_VARIABLE", `there is no variable ${name}`);
      return found.value;
    },
  };
}

/** Binds a sealed secret to its workspace and name. */
export function secretContext(workspaceId: string, name: string): string {
  return `tool-secret:${workspaceId}/${name}`;
}

/** [SSRF] Throws unless every secret may be sent to the URL's scheme, host and port. */
export function mayBeSentTo(url: string, secrets: readonly Secret[]): void {
  for (const { name, hosts } of secrets) {
    if (!mayGoTo(url, hosts)) throw new ToolError("SECRET_HOST", `the secret ${name} may not be sent to this host`);
  }
}
