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

/** How many levels deep tools call each other: the tool that is called from outside is the first. */
export const MAX_NESTING = 8;
