const PLACEHOLDER = /\{\{\s*([^{}\s]+)\s*\}\}/g;
const WHOLE = /^\{\{\s*([^{}\s]+)\s*\}\}$/;

/** The names in the placeholders of a text, in order. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map((match) => match[1] ?? "");
}

/** The name, when the text is one placeholder and nothing else. */
export function wholeName(text: string): string | undefined {
  return WHOLE.exec(text)?.[1];
}

/** Replaces every placeholder once. What is put in is never read as a template again. */
export function fillIn(text: string, textFor: (name: string) => string): string {
  return text.replace(PLACEHOLDER, (_, name: string) => textFor(name));
}

/** True when an opening `{{` belongs to no placeholder. */
export function hasStrayOpening(text: string): boolean {
  return text.replace(PLACEHOLDER, "\n").includes("{{");
}
