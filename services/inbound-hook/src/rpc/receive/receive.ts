import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
  type ReceivedHeader,
  type ReceiveRequest,
  type ReceiveResponse,
  ReceiveResponseSchema,
} from "@toolgate/gen/toolgate/inbound_hook/v1/receive_pb";
import { isDataError } from "@toolgate/postgres/data-error";
import type { Receiver } from "../../receiving/receiver.ts";

export type ReceiveHandler = CallHandler<ReceiveRequest, ReceiveResponse>;

interface ReceiveContext {
  receiver: Receiver;
  /** Called with the reason why no decision about a hook call was possible. */
  onError: (error: unknown) => void;
}

/** [IN-22] Fails with `unavailable` unless the call is known to be stored; the sender has to repeat it. */
export function receiveHandler({ receiver, onError }: ReceiveContext): ReceiveHandler {
  return async ({ hook, headers, ...call }) => {
    try {
      const outcome = await receiver.receive(hook, { ...call, headers: valuesByName(headers) });
      return create(ReceiveResponseSchema, { outcome });
    } catch (error) {
      if (isDataError(error)) throw error;
      onError(error);
      throw new ConnectError("the call could not be stored, try again", Code.Unavailable);
    }
  };
}

function valuesByName(headers: readonly ReceivedHeader[]): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const { name, value } of headers) {
    const earlier = values.get(name);
    if (earlier) earlier.push(value);
    else values.set(name, [value]);
  }
  return values;
}
