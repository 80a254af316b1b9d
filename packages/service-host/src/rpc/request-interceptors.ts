import type { Interceptor } from "@connectrpc/connect";
import { observeRpc } from "@toolgate/call-stream/measure";
import { currentRequestId, runForRequest } from "@toolgate/telemetry/request";
import { isRequestId, REQUEST_ID_HEADER } from "@toolgate/telemetry/request-id";
import { currentTrace, spanOf, TRACEPARENT_HEADER, TRACESTATE_HEADER } from "@toolgate/telemetry/trace";

/** Tells the called service which request a call is for. */
export const sendRequest: Interceptor = (next) => (call) => {
  const requestId = currentRequestId();
  if (requestId !== "") call.header.set(REQUEST_ID_HEADER, requestId);
  const { traceparent, tracestate } = currentTrace();
  if (traceparent !== "") call.header.set(TRACEPARENT_HEADER, traceparent);
  if (tracestate !== "") call.header.set(TRACESTATE_HEADER, tracestate);
  return next(call);
};

/** Runs each handler as part of the request that its caller named. */
export const receiveRequest: Interceptor = (next) => (call) => {
  const sent = call.header.get(REQUEST_ID_HEADER) ?? "";
  const span = spanOf({
    traceparent: call.header.get(TRACEPARENT_HEADER) ?? "",
    tracestate: call.header.get(TRACESTATE_HEADER) ?? "",
  });
  return runForRequest({ requestId: isRequestId(sent) ? sent : "", span }, () => next(call));
};

/** Measures and traces each RPC; for one that responds with a stream, only its start. */
export const measure: Interceptor = (next) => (call) =>
  observeRpc(`${call.service.typeName}/${call.method.name}`, () => next(call));
