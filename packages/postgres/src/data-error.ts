/**
 * True for what Postgres refuses because of the data alone, so that no repetition helps: SQLSTATE classes 22 (data
 * exception) and 23 (integrity constraint violation).
 */
export function isDataError(error: unknown): boolean {
  if (typeof error !== "object" || error === null || !("code" in error)) return false;
  return typeof error.code === "string" && /^2[23][0-9A-Z]{3}$/.test(error.code);
}
