import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A customer's site with the widget, on another origin than the gateway. */
export interface Site extends AsyncDisposable {
  origin: string;
  /** Tokens that it has handed out. */
  tokens(): number;
  /** Hands out this instead of a token of its account, once. */
  handOutOnce(token: string): void;
}

interface SiteOptions {
  gatewayUrl: string;
  tenant: string;
  /** A JWT of the user that the site's visitors share. */
  newToken(): Promise<string>;
}

/** A strict policy, so that the widget works on sites that have one. */
const policyFor = (gatewayUrl: string) =>
  `default-src 'none'; script-src ${gatewayUrl}; connect-src 'self' ${gatewayUrl}; base-uri 'none'`;

export async function startSite({ gatewayUrl, tenant, newToken }: SiteOptions): Promise<Site> {
  let tokens = 0;
  let nextToken: string | undefined;
  const page = `<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>
<script type="module" src="${gatewayUrl}/chat/widget.js" data-tenant="${tenant}" data-token-url="/chat-token"
  data-title="Shop assistant" data-greeting="How can I <help> you?"></script></html>`;
  async function token(response: ServerResponse): Promise<void> {
    tokens += 1;
    const own = nextToken;
    nextToken = undefined;
    const issued = await newToken();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ token: own ?? issued }));
  }
  const server = createServer((request, response) => {
    if (request.url === "/chat-token" && request.method === "POST") {
      token(response).catch(() => response.writeHead(500).end());
      return;
    }
    const policy = request.url !== "/without-policy" && { "content-security-policy": policyFor(gatewayUrl) };
    const headers = { "content-type": "text/html", ...policy };
    response.writeHead(200, headers).end(page);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens: () => tokens,
    handOutOnce(value) {
      nextToken = value;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
