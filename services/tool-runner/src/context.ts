import type { Epochs } from "@toolgate/epoch/epoch";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { FindServer } from "./execution/data-source-server.ts";
import type { DryRunDependencies } from "./execution/dry-run.ts";

/** What the RPC handlers of management work with. */
export interface Context extends DryRunDependencies {
  pool: Pool;
  epochs: Epochs;
  secretBox: SecretBox;
  findServer: FindServer;
}
