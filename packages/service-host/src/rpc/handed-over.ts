import { AsyncLocalStorage } from "node:async_hooks";
import { create, type DescMethodUnary, type Message } from "@bufbuild/protobuf";
import { Code, ConnectError, type Interceptor, type UnaryResponse } from "@connectrpc/connect";

/** Holds a response's message until the caller takes it. Emptied then: what the call started may still refer to it. */
interface Place {
  message?: Message | undefined;
  isClosed?: boolean;
}

/**
 * Two interceptors of one server in this process: `leave`, its outermost, and `take`, the innermost of its clients. They give
 * the caller of a unary RPC the very message that the handler returned, which nobody may change afterwards. To encode and
 * decode it takes as long as to write it as JSON, and three times as long for definitions of tools.
 * Requests are mostly small: they are encoded, so that a handler gets a copy.
 */
export function handOver(): { leave: Interceptor; take: Interceptor } {
  const places = new AsyncLocalStorage<Place>();
  return {
    leave: (next) => async (request) => {
      const place = places.getStore();
      const response = await next(request);
      if (response.stream || place === undefined || place.isClosed) return response;
      place.message = response.message;
      const { output } = response.method as DescMethodUnary;
      return { ...response, message: create(output) } as UnaryResponse;
    },
    take: (next) => async (request) => {
      if (request.stream) return next(request);
      const place: Place = {};
      try {
        const response = await places.run(place, () => next(request));
        const { message } = place;
        if (!message) throw new ConnectError(`${request.method.name}: the response was not handed over`, Code.Internal);
        return { ...response, message } as UnaryResponse;
      } finally {
        place.isClosed = true;
        place.message = undefined;
      }
    },
  };
}
