import ipaddr from "ipaddr.js";

const IPV6_GROUPS = 8;
const IPV6_GROUPS_KEPT = 3;

/** [LOG-7] [TOOL-43] An address without the part that names a person's line: IPv4 /24, IPv6 /48; "" when it is none. */
export function shortIp(address: string): string {
  if (!ipaddr.isValid(address)) return "";
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return `${parsed.octets.slice(0, 3).join(".")}.0`;
  const kept = parsed.parts.slice(0, IPV6_GROUPS_KEPT);
  return new ipaddr.IPv6([...kept, ...Array(IPV6_GROUPS - IPV6_GROUPS_KEPT).fill(0)]).toRFC5952String();
}
