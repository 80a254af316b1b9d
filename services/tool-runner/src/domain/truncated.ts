/** The beginning of a text, well-formed. It is a copy, because a slice would keep the whole text in memory. */
export function truncated(text: string, maxChars: number): string {
  return Buffer.from(text.slice(0, maxChars)).toString();
}
