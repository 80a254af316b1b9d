import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { loginAgain, sessionStore } from "./session.ts";

const withToken: Interceptor = (next) => (request) => {
  request.header.set("x-csrf-token", sessionStore.get()?.csrf_token ?? "");
  return next(request);
};

/** A call that is refused because the session has ended is made once more after the user has logged in again. */
const againAfterLogin: Interceptor = (next) => async (request) => {
  try {
    return await next(request);
  } catch (error) {
    if (ConnectError.from(error).code !== Code.Unauthenticated) throw error;
    await loginAgain();
    return next(request);
  }
};

/** The management RPCs, at the gateway that served this page. */
export const transport = createConnectTransport({
  baseUrl: "/",
  interceptors: [againAfterLogin, withToken],
});
