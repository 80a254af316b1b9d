import type { CustomHeaders } from "@toolgate/gen/toolgate/outbound_webhook/v1/endpoint_pb";
import type { SecretBox } from "@toolgate/secret-box/secret-box";
import { headersContext, readCustomHeaders } from "../../domain/custom-headers.ts";
import type { SealedHeaders } from "../../store/endpoint.ts";
import { invalidArgument } from "../request-fields.ts";

/** The custom headers of a request; throws invalid_argument. */
export function customHeaders(given: CustomHeaders | undefined): Record<string, string> {
  const read = readCustomHeaders(given?.values ?? {});
  if (!read.ok) throw invalidArgument(read.violation);
  return read.headers;
}

export function sealHeaders(
  secretBox: Pick<SecretBox, "seal">,
  endpointId: number,
  headers: Record<string, string>,
): SealedHeaders {
  const names = Object.keys(headers);
  const sealed = names.length === 0 ? null : secretBox.seal(JSON.stringify(headers), headersContext(endpointId));
  return { sealed, names };
}
