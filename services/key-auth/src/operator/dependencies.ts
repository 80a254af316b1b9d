import type { Epochs } from "@toolgate/epoch/epoch";
import type { Pool } from "@toolgate/postgres/pool";

/** What an operator's commands work with. */
export interface OperatorDependencies {
  pool: Pool;
  epochs: Epochs;
  /** The password, where a command needs one: never an argument, which others on the machine can see. */
  readPassword: () => Promise<string>;
  now: () => Date;
}
