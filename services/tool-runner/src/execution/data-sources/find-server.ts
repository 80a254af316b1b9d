import { parseAllowList } from "@toolgate/safe-fetch/allow-list";
import { checkTarget, literalAddress } from "@toolgate/safe-fetch/resolve";
import { createSystemResolver } from "@toolgate/safe-fetch/system-resolver";
import { parseDataSourceUrl, tlsTo } from "../../domain/data/data-source-url.ts";
import type { ForeignServer } from "./foreign-pool.ts";

type FoundServer = { ok: true; server: ForeignServer } | { ok: false; reason: string };

/** [SSRF-4..6] Parses and resolves the URL of a data source, when it is saved and on every connection. */
export type FindServer = (url: string, workspaceId: string) => Promise<FoundServer>;

/** Make one per process: it bounds the number of simultaneous lookups. */
export function createFindServer(allowedAddresses: readonly string[]): FindServer {
  const rules = { resolver: createSystemResolver(), allowList: parseAllowList(allowedAddresses) };
  return async (url, workspaceId) => {
    const source = parseDataSourceUrl(url);
    if (!source) {
      const reason = "must be postgres://user:password@host:port/database, with sslmode or no parameter";
      return { ok: false, reason };
    }
    const { tlsMode, host, ...rest } = source;
    const checked = await checkTarget(source, { ...rules, workspaceId });
    const address = checked.ok ? checked.addresses[0] : undefined;
    if (!address) return { ok: false, reason: "address not allowed or not resolvable" };
    const tls = tlsTo(tlsMode, rules.allowList(source, address));
    if (tls === "refused") return { ok: false, reason: "sslmode=disable is not allowed for this address" };
    const serverName = literalAddress(host) === undefined ? { serverName: host } : {};
    return { ok: true, server: { ...rest, address, tls: tls ? serverName : undefined } };
  };
}
