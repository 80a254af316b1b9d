import type { HostFunctionName } from "../../domain/host-functions.ts";
import { BESIDE_OTHERS, WEIGHTS } from "../share.ts";

/** What a host call counts in the share of its workspace. */
interface HostCallCost {
  /** What a byte of its arguments and its result counts. */
  weight: number;
  /** What is charged in advance for a result that may be large, so that not all calls read theirs at once. */
  expectedBytes: number;
  /** What the call counts on top of its bytes while other workspaces work too. */
  bytesBesideOthers: number;
}

const KIB = 1024;
const SMALL: HostCallCost = {
  weight: WEIGHTS.hostCall,
  expectedBytes: 0,
  bytesBesideOthers: BESIDE_OTHERS.hostCall,
};
const QUERY = { ...SMALL, expectedBytes: 256 * KIB };

export const COST_OF: Readonly<Record<HostFunctionName, HostCallCost>> = {
  callTool: { ...SMALL, bytesBesideOthers: BESIDE_OTHERS.nestedRun },
  executePreparedQuery: QUERY,
  executeQuery: QUERY,
  readSheet: { ...SMALL, weight: WEIGHTS.sheet, expectedBytes: 256 * KIB },
  writeToSheet: { ...SMALL, weight: WEIGHTS.sheet },
  clearFromSheet: SMALL,
  emitWebhook: { ...SMALL, weight: WEIGHTS.event, bytesBesideOthers: BESIDE_OTHERS.event },
  sendMail: SMALL,
  variable: SMALL,
  fetch: { ...SMALL, expectedBytes: 64 * KIB },
};
