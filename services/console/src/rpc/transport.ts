import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { loginAgain, renewToken, sessionStore } from "./session.ts";

const withToken: Interceptor = (next) => (request) => {
  request.header.set("x-csrf-token", sessionStore.get()?.csrf_token ?? "");
  return next(request);
};

/**
 * A call that is refused because the session has ended is made once more after the user has logged in again, and so is one
 * whose token is that of an earlier session, because the user has logged in again in another tab.
 */
const againAfterLogin: Interceptor = (next) => async (request) => {
  const session = sessionStore.get();
  try {
    return await next(request);
  } catch (error) {
    const { code } = ConnectError.from(error);
    if (code === Code.Unauthenticated) await loginAgain(session);
    else if (code !== Code.PermissionDenied || !(await renewToken())) throw error;
    return next(request);
  }
};

/** For people who are not signed in. */
export const publicTransport = createConnectTransport({ baseUrl: "/" });

/** The management RPCs, at the gateway that served this page. */
export const transport = createConnectTransport({
  baseUrl: "/",
  interceptors: [againAfterLogin, withToken],
});
