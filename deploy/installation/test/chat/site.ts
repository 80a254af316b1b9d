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
  /** The login of the user that the site's visitors share. */
  account: { email: string; password: string };
}

/** A strict policy, so that the widget works on sites that have one. */
const policyFor = (gatewayUrl: string) =>
  `default-src 'none'; script-src ${gatewayUrl}; connect-src 'self' ${gatewayUrl}; base-uri 'none'`;

export async function startSite({ gatewayUrl, tenant, account }: SiteOptions): Promise<Site> {
  let tokens = 0;
  let nextToken: string | undefined;
  const page = `<!doctype html><html lang="en"><title>Shop</title><h1>Shop</h1>
<script type="module" src="${gatewayUrl}/chat/widget.js" data-tenant="${tenant}" data-token-url="/chat-token"
  data-title="Shop assistant" data-greeting="How can I <help> you?"></script></html>`;
  async function token(response: ServerResponse): Promise<void> {
    tokens += 1;
    const own = nextToken;
    nextToken = undefined;
    const { email, password } = account;
    const login = await fetch(`${gatewayUrl}/toolgate.key_auth.v1.SessionService/Login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password, tokenKind: "TOKEN_KIND_JWT" }),
    });
    if (!login.ok) throw new Error(`no login: ${login.status}`);
    const issued = ((await login.json()) as { token: string }).token;
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
