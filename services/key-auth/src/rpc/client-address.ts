import type { HandlerContext } from "@connectrpc/connect";
import { addressBytes } from "@toolgate/safe-fetch/address";
import { CLIENT_ADDRESS_HEADER } from "@toolgate/service-host/principal";

const IPV6_NETWORK_BYTES = 8;

/** What failures of a caller are counted under: the IPv4 address, or the /64 that an IPv6 caller picks from. */
export function callerNetwork(call: Pick<HandlerContext, "requestHeader">): string | undefined {
  const bytes = addressBytes(call.requestHeader.get(CLIENT_ADDRESS_HEADER) ?? "");
  if (!bytes) return undefined;
  return Buffer.from(bytes.length === 4 ? bytes : bytes.slice(0, IPV6_NETWORK_BYTES)).toString("hex");
}
