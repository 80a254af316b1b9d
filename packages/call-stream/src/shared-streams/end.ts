import { toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { End } from "@toolgate/gen/toolgate/call_stream/v1/call_stream_pb";

/** The last item of a stream. */
export function toEnd(error: ConnectError | undefined): End {
  const details = (error?.details ?? []).map((detail) => {
    const $typeName = "toolgate.call_stream.v1.Detail" as const;
    if (!("desc" in detail)) return { $typeName, type: detail.type, value: detail.value };
    const { $typeName: _, ...message } = detail.value as { $typeName?: string };
    const value = toBinary(detail.desc, { ...message, $typeName: detail.desc.typeName } as never);
    return { $typeName, type: detail.desc.typeName, value };
  });
  const { code = 0, rawMessage: message = "" } = error ?? {};
  return { $typeName: "toolgate.call_stream.v1.End", code, message, details };
}

/** Undefined when the stream ended without an error. */
export function fromEnd({ code, message, details }: End): ConnectError | undefined {
  if (code === 0) return undefined;
  const error = new ConnectError(message, code <= Code.Unauthenticated ? code : Code.Unknown);
  error.details = details.map(({ type, value }) => ({ type, value }));
  return error;
}
