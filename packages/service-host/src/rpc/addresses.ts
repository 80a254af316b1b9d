import { lookup } from "node:dns/promises";
import { isIP } from "node:net";

/**
 * The server processes behind base URLs (several separated by commas): a host name, such as that of a headless Service,
 * is resolved to all its addresses. Of an https URL they end in `#` and the name, for which the certificate is valid.
 */
export async function serverAddresses(baseUrls: string): Promise<string[]> {
  const found = await Promise.all(baseUrls.split(",").map((baseUrl) => expand(new URL(baseUrl.trim()))));
  return [...new Set(found.flat())];
}

async function expand(url: URL): Promise<string[]> {
  if (isIP(url.hostname.replace(/^\[|\]$/g, ""))) return [url.origin];
  const addresses = await lookup(url.hostname, { all: true });
  return addresses.map(({ address, family }) => {
    const to = new URL(url);
    to.hostname = family === 6 ? `[${address}]` : address;
    return url.protocol === "https:" ? `${to.origin}#${url.hostname}` : to.origin;
  });
}
