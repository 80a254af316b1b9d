import type { Epochs } from "@toolgate/epoch/epoch";
import type { Pool } from "@toolgate/postgres/pool";
import type { Actor } from "../store/audit.ts";

/** What the operator's commands work with. */
export interface OperatorContext {
  pool: Pool;
  epochs: Epochs;
  /** Reads the password from the input, because other users of the machine could see an argument. */
  readPassword: () => Promise<string>;
  now: () => Date;
}

/** A command that cannot be run; the operator sees the message. */
export class OperatorError extends Error {}

/** The operator in the audit log. */
export const OPERATOR: Actor = { id: null, name: "operator" };
