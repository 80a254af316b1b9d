import type { EnvReader } from "./env.ts";

const WITHOUT_TLS = new Set([null, "", "disable"]);

/** The file of certificates that connections to Postgres, NATS and Redis trust, instead of the public authorities; or "". */
export function readServersCaFile(reader: EnvReader): string {
  return reader.text("SERVERS_CA_FILE", "");
}

/**
 * The address of Postgres, in DATABASE_URL. If it asks for encryption and names no file of certificates itself
 * (`sslrootcert`), it gets the one of SERVERS_CA_FILE.
 */
export function readDatabaseUrl(reader: EnvReader): string {
  return withCaFile(reader.text("DATABASE_URL"), readServersCaFile(reader));
}

/** As `readDatabaseUrl`, for an address that was read before. */
export function withCaFile(databaseUrl: string, caFile: string): string {
  const url = URL.parse(databaseUrl);
  if (caFile === "" || !url || url.searchParams.has("sslrootcert")) return databaseUrl;
  if (WITHOUT_TLS.has(url.searchParams.get("sslmode"))) return databaseUrl;
  url.searchParams.set("sslrootcert", caFile);
  return url.href;
}
