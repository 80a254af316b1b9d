import { loginAgain, renewToken, sessionStore } from "./session.ts";

/**
 * fetch with the session, for paths that are no RPCs. As with those, a request that is refused because the session is over is
 * made again after the login, and so is one with the token of an earlier session.
 */
export const sessionFetch: typeof fetch = async (input, init) => {
  const send = () => {
    const headers = new Headers(init?.headers);
    if (init?.method === "POST") headers.set("x-csrf-token", sessionStore.get()?.csrf_token ?? "");
    return fetch(input, { ...init, headers });
  };
  const session = sessionStore.get();
  const response = await send();
  if (response.status === 401) {
    await loginAgain(session);
    return send();
  }
  return response.status === 403 && (await renewToken()) ? send() : response;
};
