const NUL = "\u0000";

/** Whether any text in a message holds NUL, which JSON can carry and Postgres cannot keep. */
export function holdsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes(NUL);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  return Object.entries(value).some(([name, member]) => name.includes(NUL) || holdsNul(member));
}
