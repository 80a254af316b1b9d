const NUL = "\u0000";
const MAX_LOGGED_CHARACTERS = 200;
/** Control characters, NUL among them, and halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu;

/** Whether any text in a message contains NUL, which JSON can carry but Postgres cannot store. */
export function containsNul(value: unknown): boolean {
  if (typeof value === "string") return value.includes(NUL);
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  return Object.entries(value).some(([name, member]) => name.includes(NUL) || containsNul(member));
}

/** [LOG-4] The tool name of a request as the usage log stores it. */
export function loggedToolName(name: string): string {
  return [...name.replace(UNPRINTABLE, "")].slice(0, MAX_LOGGED_CHARACTERS).join("");
}
