import { Code, ConnectError, createContextKey, type HandlerContext } from "@connectrpc/connect";
import type { ServiceName } from "@toolgate/service-registry/services";

export const callerKey = createContextKey<ServiceName | undefined>(undefined);

/** The service that makes a call; the access interceptor has checked that it may. */
export function callerOf(context: Pick<HandlerContext, "values">): ServiceName {
  const caller = context.values.get(callerKey);
  if (!caller) throw new ConnectError("no caller", Code.Unauthenticated);
  return caller;
}
