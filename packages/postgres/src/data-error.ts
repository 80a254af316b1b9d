/**
 * True if Postgres rejects the data itself, so that repeating cannot help: SQLSTATE classes 22 (data exception) and 23
 * (integrity constraint violation).
 */
export function isDataError(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("code" in error)) return false;
  return typeof error.code === "string" && /^2[23][0-9A-Z]{3}$/.test(error.code);
}
