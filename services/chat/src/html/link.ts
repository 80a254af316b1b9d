const SCHEMES: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
const MAX_HREF_CHARS = 2_048;

/** The absolute form of a link that may be shown; undefined for other schemes, relative links, and links with a password. */
export function safeHref(href: string): string | undefined {
  if (href.length > MAX_HREF_CHARS) return undefined;
  const url = URL.parse(href);
  if (url === null || !SCHEMES.has(url.protocol) || url.username !== "" || url.password !== "") return undefined;
  return url.href.length > MAX_HREF_CHARS ? undefined : url.href;
}
