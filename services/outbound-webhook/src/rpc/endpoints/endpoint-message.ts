import type { MessageInitShape } from "@bufbuild/protobuf";
import type { EndpointSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { EndpointRow } from "../../store/endpoint.ts";

export function toEndpoint(row: EndpointRow): MessageInitShape<typeof EndpointSchema> {
  const { id, createdAt, deactivatedAt, savedAt, ...rest } = row;
  return {
    ...rest,
    id: BigInt(id),
    createdAt: timestampOf(createdAt),
    savedAt: timestampOf(savedAt),
    ...(deactivatedAt && { deactivatedAt: timestampOf(deactivatedAt) }),
  };
}
