const SPECIAL = /[&<>"]/g;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Characters that HTML or Postgres cannot contain; line breaks and tabs stay. */
const UNUSABLE = /[^\P{Cc}\t\n]/gu;

/** HTML that shows exactly this text, also within a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(UNUSABLE, "").replace(SPECIAL, (char) => ENTITIES[char] ?? "");
}
