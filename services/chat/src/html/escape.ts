const SPECIAL = /[&<>"]/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Characters that HTML or Postgres cannot hold; line breaks and tabs stay. */
const UNUSABLE = /[^\P{Cc}\t\n]/gu;

/** The text as HTML that shows exactly it, also within a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(UNUSABLE, "").replace(SPECIAL, (char) => ENTITIES[char] ?? "");
}
