/** Ends a run, or rejects a host call, with a message for the tool and the execution log. External callers never see it. */
export class ToolError extends Error {
  readonly code: string;
  /** For the execution log only, never for the tool or an event, such as a database's error message. */
  readonly detail: string | undefined;

  constructor(code: string, message: string, detail?: string) {
    super(message);
    this.name = "ToolError";
    this.code = code;
    this.detail = detail;
  }
}

/** A run was refused before any of its code ran, so it may be tried again. */
export class NotStarted extends Error {}

/** It was refused because too many others are under way. */
export class Overloaded extends NotStarted {}

/**
 * [ERR-18] The tool returned something that is not JSON. The call ends like one that the platform cut off, but the tool's code
 * is at fault, so nobody has to look after it.
 */
export class NotJson extends Error {}

/** Runs a domain function that throws a RangeError for an invalid argument, and throws a ToolError instead. */
export function validated<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new ToolError("INVALID_ARGUMENT", error.message);
    throw error;
  }
}
