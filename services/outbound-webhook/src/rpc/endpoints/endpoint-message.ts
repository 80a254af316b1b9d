import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { EndpointSchema } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { EndpointRow } from "../../store/endpoint.ts";

export function toEndpoint(row: EndpointRow): MessageInitShape<typeof EndpointSchema> {
  const { id, createdAt, deactivatedAt, ...rest } = row;
  return {
    ...rest,
    id: BigInt(id),
    createdAt: timestampFromDate(createdAt),
    ...(deactivatedAt && { deactivatedAt: timestampFromDate(deactivatedAt) }),
  };
}
