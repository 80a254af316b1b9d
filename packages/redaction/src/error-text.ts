const MAX_ERROR_CHARS = 2_000;
/** Only blanks within a line: with line ends, the search would go through all of them again from each. */
const STACK_LINE = /\n[^\S\n]+at\s/;

/** An error's text as events may show it: without the lines of a stack, at most 2000 characters, well-formed. [EVT] */
export function shownError(error: string): string {
  const stack = error.search(STACK_LINE);
  const text = stack === -1 ? error : error.slice(0, stack).trimEnd();
  return text.slice(0, MAX_ERROR_CHARS).toWellFormed();
}
