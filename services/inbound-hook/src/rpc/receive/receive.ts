import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallHandler } from "@toolgate/call-stream/call";
import {
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
  return async (call) => {
    try {
      return create(ReceiveResponseSchema, { outcome: await receiver.receive(call) });
    } catch (error) {
      if (isDataError(error)) throw error;
      onError(error);
      throw new ConnectError("the call could not be stored, try again", Code.Unavailable);
    }
  };
}
