import type { Interceptor } from "@connectrpc/connect";
import { measureRpc } from "@toolgate/call-stream/measure";
import { currentRequestId, runForRequest } from "@toolgate/telemetry/request";
import { isRequestId, REQUEST_ID_HEADER } from "@toolgate/telemetry/request-id";

/** Tells the called service which request a call is for. */
export const sendRequest: Interceptor = (next) => (call) => {
  const requestId = currentRequestId();
  if (requestId !== "") call.header.set(REQUEST_ID_HEADER, requestId);
  return next(call);
};

/** Runs each handler for the request that its caller named. */
export const receiveRequest: Interceptor = (next) => (call) => {
  const sent = call.header.get(REQUEST_ID_HEADER) ?? "";
  return runForRequest({ requestId: isRequestId(sent) ? sent : "" }, () => next(call));
};

/** Measures each RPC; of one that responds with a stream its start. */
export const measure: Interceptor = (next) => async (call) => {
  const rpc = `${call.service.typeName}/${call.method.name}`;
  const started = performance.now();
  try {
    const response = await next(call);
    measureRpc(rpc, started);
    return response;
  } catch (error) {
    measureRpc(rpc, started, error);
    throw error;
  }
};
