const MAX_ERROR_CHARS = 2_000;
const STACK_LINES = /\n\s+at\s[\s\S]*$/;

/** An error's text as events may show it: without the lines of a stack, at most 2000 characters, well-formed. [EVT] */
export function shownError(error: string): string {
  return error.replace(STACK_LINES, "").slice(0, MAX_ERROR_CHARS).toWellFormed();
}
