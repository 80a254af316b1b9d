import { ChatError } from "./retries.ts";

/**
 * Returns the JWT to send; it is called before each request, so it should remember the token. `refused`: the server has
 * just refused the last one, so a new one is needed.
 */
export type TokenSource = (refused: boolean) => string | Promise<string>;

export interface ApiOptions {
  /** The server's address, such as https://tools.example.com; default: the page's own server. */
  baseUrl?: string;
  /** The workspace's code. */
  tenant: string;
  /** Chosen by you: 1 to 128 of A-Z a-z 0-9 _ . : - */
  chatId: string;
  /** Without it, the session cookie is used, which works only on pages of the server itself. */
  token?: TokenSource;
  /** Needed with the session cookie, for requests that change something. */
  csrfToken?: string;
  fetch?: typeof fetch;
}

export interface ApiRequest {
  path: string;
  /** Names and values; undefined ones are left out. */
  query?: Record<string, string | number | boolean | undefined>;
  /** Makes it a POST: fields as JSON, or a form. */
  body?: Record<string, unknown> | FormData;
  signal?: AbortSignal | undefined;
}

export type Api = (request: ApiRequest) => Promise<Response>;

/** Sends requests about one chat. Rejects with a ChatError unless the response is a success. */
export function createApi({ baseUrl = "", tenant, chatId, token, csrfToken, ...options }: ApiOptions): Api {
  const send = options.fetch ?? fetch;
  const chat = { tenant, chat_id: chatId };

  async function attempt({ path, query, body, signal }: ApiRequest, refused: boolean): Promise<Response> {
    const headers: Record<string, string> = {};
    if (token) headers.authorization = `Bearer ${await token(refused)}`;
    if (body && csrfToken) headers["x-csrf-token"] = csrfToken;
    let url = baseUrl + path;
    let content: string | FormData | null = null;
    if (body instanceof FormData) {
      for (const [name, value] of Object.entries(chat)) body.set(name, value);
      content = body;
    } else if (body) {
      headers["content-type"] = "application/json";
      content = JSON.stringify({ ...chat, ...body });
    } else {
      const parameters = new URLSearchParams(chat);
      for (const [name, value] of Object.entries(query ?? {}))
        if (value !== undefined) parameters.set(name, String(value));
      url += `?${parameters}`;
    }
    return send(url, {
      method: body ? "POST" : "GET",
      headers,
      body: content,
      signal: signal ?? null,
      credentials: token ? "omit" : "same-origin",
      cache: "no-store",
    });
  }

  return async (request) => {
    let response = await attempt(request, false);
    if (response.status === 401 && token) response = await attempt(request, true);
    if (!response.ok) throw await errorOf(response);
    return response;
  };
}

async function errorOf(response: Response): Promise<ChatError> {
  // A proxy in front of the server may respond with something other than our JSON.
  const body = (await response.json().catch(() => ({}))) as { error?: { code?: string; message?: string } };
  const retryAfterMs = Math.min(60, Number(response.headers.get("retry-after")) || 0) * 1000;
  const { code = "INTERNAL", message = `the server responded with ${response.status}` } = body.error ?? {};
  return new ChatError(response.status, code, message, retryAfterMs);
}
