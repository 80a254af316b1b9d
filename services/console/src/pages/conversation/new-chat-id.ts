/** Cannot be guessed. Not randomUUID, which pages without https do not have. */
export function newChatId(): string {
  return `console-${crypto.getRandomValues(new Uint32Array(4)).join("-")}`;
}
