import { type CacheSource, createWorkspaceCache } from "@toolgate/epoch/cache";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { mayGoTo } from "../../domain/api-calls/workspace-values.ts";
import { secretForms } from "../../domain/calls/secret-forms.ts";
import { findSealedSecrets } from "../../store/secrets.ts";
import { listVariables } from "../../store/variables.ts";
import { ToolError } from "../errors.ts";
import type { RunScope } from "../run.ts";

export interface Secret {
  name: string;
  value: string;
  /** Where it may be sent: see `mayGoTo`. */
  hosts: readonly string[];
  /** What it looks like where services return it; computed once. */
  forms: () => readonly string[];
}

type InWorkspace = Pick<RunScope, "workspaceId" | "epoch">;

/** Secrets and variables of workspaces. Both methods reject with a ToolError if the name does not exist. */
export interface WorkspaceValues {
  /** A secret never enters a sandbox. It is added to `usedSecrets`, so that it is removed from logs. */
  secret(name: string, scope: InWorkspace & Pick<RunScope, "usedSecrets">): Promise<Secret>;
  variable(name: string, scope: InWorkspace): Promise<string>;
}

const MAX_CACHED_BYTES = 32 * 1024 * 1024;
/** A name and the map's own bytes for an entry. */
const BYTES_PER_ENTRY = 200;
const BYTES_PER_CHAR = 2;
/** At most, with the secret itself. */
const BYTES_OF_FORMS_PER_CHAR = 60;

export function createWorkspaceValues(deps: { pool: Pool; secretBox: SecretBox } & CacheSource): WorkspaceValues {
  const { pool, secretBox } = deps;
  const secrets = createWorkspaceCache<Map<string, Secret>>(deps, {
    name: "secrets",
    maxBytes: MAX_CACHED_BYTES,
    sizeOf: (map) =>
      sizeOfAll(
        map.values(),
        ({ value, hosts }) => BYTES_OF_FORMS_PER_CHAR * value.length + BYTES_PER_CHAR * hosts.join().length,
      ),
  });
  const variables = createWorkspaceCache<Map<string, string>>(deps, {
    name: "variables",
    maxBytes: MAX_CACHED_BYTES,
    sizeOf: (map) => sizeOfAll(map.values(), (value) => BYTES_PER_CHAR * value.length),
  });

  async function loadSecrets(workspaceId: string): Promise<Map<string, Secret>> {
    const rows = await findSealedSecrets(pool, workspaceId);
    return new Map(
      rows.map(({ name, hosts, sealedValue }) => {
        const value = secretBox.open(sealedValue, secretContext(workspaceId, name));
        return [name, { name, value, hosts, forms: createForms(value) }];
      }),
    );
  }

  return {
    async secret(name, { workspaceId, epoch, usedSecrets }) {
      const found = (await secrets.get(workspaceId, epoch, () => loadSecrets(workspaceId))).get(name);
      if (!found) throw new ToolError("NO_SUCH_SECRET", `there is no secret ${name}`);
      usedSecrets.add(found);
      return found;
    },
    async variable(name, { workspaceId, epoch }) {
      const load = async () => new Map((await listVariables(pool, workspaceId)).map((row) => [row.name, row.value]));
      const value = (await variables.get(workspaceId, epoch, load)).get(name);
      if (value === undefined) throw new ToolError("NO_SUCH_VARIABLE", `there is no variable ${name}`);
      return value;
    },
  };
}

function createForms(value: string): () => readonly string[] {
  let forms: readonly string[] | undefined;
  return () => {
    forms ??= secretForms(value);
    return forms;
  };
}

function sizeOfAll<T>(values: Iterable<T>, bytesOf: (value: T) => number): number {
  let bytes = 0;
  for (const value of values) bytes += BYTES_PER_ENTRY + bytesOf(value);
  return bytes;
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
