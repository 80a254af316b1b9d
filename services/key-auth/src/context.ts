import type { Epochs } from "@toolgate/epoch/epoch";
import type { Pool } from "@toolgate/postgres/pool";
import type { Tools } from "./clients/tools.ts";
import type { PasswordTurns } from "./login/password-turns.ts";
import type { LoginThrottle } from "./login/throttle.ts";
import type { Tokens } from "./login/tokens.ts";
import type { Gate } from "./verification/gate.ts";

/** What the RPC handlers work with. */
export interface Context {
  pool: Pool;
  epochs: Epochs;
  tools: Tools;
  gate: Pick<Gate, "used" | "lastAccepted">;
  tokens: Tokens;
  throttle: LoginThrottle;
  inPasswordTurn: PasswordTurns;
  now: () => Date;
  /** Work that the answer does not wait for; a failure is logged, and the service's end waits for it. */
  afterwards: (work: Promise<unknown>) => void;
}
