/**
 * True if Postgres rejects the data itself, so that repeating cannot help: SQLSTATE classes 22 (data exception), 23
 * (integrity constraint violation) and 54 (program limit exceeded, as by JSON that is nested too deeply).
 */
export function isDataError(error: unknown): boolean {
  return /^(?:2[23]|54)[0-9A-Z]{3}$/.test(codeOf(error));
}

/** True if a statement has waited for a lock for longer than its `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === "55P03";
}

function codeOf(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}
