/**
 * Control characters, the separators of lines and paragraphs, what changes the direction of text, and halves of
 * surrogate pairs: in a list, a log or an email they make a name look like something else.
 */
const REFUSED = /[\p{Cc}\p{Cs}\u2028\u2029\u202A-\u202E\u2066-\u2069]/u;
const ALL_REFUSED = new RegExp(REFUSED, "gu");

/** Whether a text has a character that no name may have. Messages say "control characters" for all of them. */
export function hasControlCharacters(text: string): boolean {
  return REFUSED.test(text);
}

/** The text without those characters, for names that another system has given, such as those of files. */
export function withoutControlCharacters(text: string): string {
  return text.replace(ALL_REFUSED, "");
}

/**
 * Why a user may not give something this name: it is empty, has more than `maxCharacters` (Unicode code points) or
 * control characters. Undefined when it is allowed.
 */
export function nameFault(name: string, maxCharacters: number): string | undefined {
  if (name === "") return "must not be empty";
  if ([...name].length > maxCharacters) return `at most ${maxCharacters} characters`;
  return hasControlCharacters(name) ? "must not contain control characters" : undefined;
}
