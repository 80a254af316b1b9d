import type { Epochs } from "@toolgate/epoch/epoch";
import type { Pool } from "@toolgate/postgres/pool";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import type { FindServer } from "./execution/data-source-server.ts";
import type { Sheets } from "./execution/sheets.ts";

/** What the RPC handlers of management work with. */
export interface Context {
  pool: Pool;
  epochs: Epochs;
  secretBox: SecretBox;
  findServer: FindServer;
  sheets: Pick<Sheets, "read">;
  now: () => Date;
}
