import { Conversation, type WidgetOptions } from "./conversation.ts";

/** Adds a chat to the page. */
export function addChat(options: WidgetOptions): void {
  const host = document.createElement("toolgate-chat");
  document.body.append(host);
  new Conversation(host, options);
}

// A module cannot ask which script element it belongs to, so it looks for its own address.
for (const script of document.querySelectorAll<HTMLScriptElement>("script[data-token-url]")) {
  const { tenant = "", tokenUrl = "", title, greeting, assistant } = script.dataset;
  const { origin } = new URL(import.meta.url);
  if (script.src === import.meta.url) addChat({ baseUrl: origin, tenant, tokenUrl, title, greeting, assistant });
}
