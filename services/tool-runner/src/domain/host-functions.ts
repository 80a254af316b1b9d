/** The functions that a handler calls on `ctx` and its host carries out. [RO] Whether it may is decided by the host. */
export const HOST_FUNCTIONS = [
  "callTool",
  "executePreparedQuery",
  "executeQuery",
  "readSheet",
  "writeToSheet",
  "clearFromSheet",
  "emitWebhook",
  "sendMail",
  "variable",
  "fetch",
] as const;

export type HostFunctionName = (typeof HOST_FUNCTIONS)[number];

/** One host call of a run, as the execution log stores it. */
export interface HostCallEntry {
  name: string;
  /** The tool, query, sheet or host that was named; never a value. */
  target: string;
  /** From the start of the run to the start of the call. Records of earlier versions have none. */
  started_after_ms?: number;
  duration_ms: number;
  /** Empty when it succeeded. */
  error_code: string;
  /** A dry run recorded the write instead of making it. */
  recorded: boolean;
}

/** How many levels deep tools call each other: the tool that is called from outside is the first. */
export const MAX_NESTING = 8;
