import ipaddr from "ipaddr.js";

/** An address in one form, IPv4 also where it came mapped into IPv6; "" when it is none. */
export function canonicalIp(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : "";
}
