const MAX_CHARACTERS = 200;
/** What is no text for a log: control characters, among them NUL, and halves of surrogate pairs. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}]/gu;

/** [LOG-4] The tool name of a request as the usage log keeps it. */
export function loggedToolName(name: string): string {
  return [...name.replace(UNPRINTABLE, "")].slice(0, MAX_CHARACTERS).join("");
}
