import { createLogger } from "@toolgate/service-host/process/logger";
import { openProcessTls, type ProcessTls } from "@toolgate/service-host/tls/process-tls";
import {
  type Authority,
  type CertificateFiles,
  certificateFiles,
  createAuthority,
} from "@toolgate/testbed/certificates";
import { beforeAll, describe, expect, it } from "vitest";
import { openPool as openSandboxPool, resultOf, runSource, until } from "../sandbox-harness.ts";
import { spawnAt, startSandbox, TOKEN } from "./sandbox-service.ts";

const MIB = 1024 * 1024;
const log = createLogger({ service: "test", level: "silent" });

async function tlsFrom({ env }: CertificateFiles): Promise<ProcessTls> {
  const files = { certFile: env.TLS_CERT_FILE, keyFile: env.TLS_KEY_FILE, caFile: env.TLS_CA_FILE };
  return openProcessTls(files, { log, everyMs: 50 });
}

describe("a sandbox process with certificates", () => {
  let authority: Authority;
  let foreign: Authority;
  beforeAll(async () => {
    [authority, foreign] = await Promise.all([createAuthority(), createAuthority()]);
  });
  const filesFrom = async (issuer: Authority, names?: string) =>
    certificateFiles({ ...(await issuer.issue(names ? { names } : {})), ca: issuer.ca });
  const openPool = (role: { url: string }, tls: ProcessTls | undefined, warnings: Record<string, unknown>[] = []) =>
    openSandboxPool({}, { spawn: spawnAt([role], TOKEN, tls), log: { warn: (fields) => warnings.push(fields) } });

  it("[TOOL-2] runs handlers with host calls and large data", async () => {
    const files = await filesFrom(authority);
    await using role = await startSandbox(TOKEN, files.env);
    await using tls = await tlsFrom(files);
    await using pool = openPool(role, tls);
    const big = "x".repeat(6 * MIB);
    const onHostCall = async () => JSON.stringify(big);
    const source = "export default async (args, ctx) => args.big.length + (await ctx.callTool('x')).length";
    expect(await resultOf(pool, source, { args: { big }, onHostCall, limits: { cpuMs: 10_000 } })).toBe(12 * MIB);
  });

  it("[TOOL-2] refuses a tool-runner without TLS or of another authority, whose token is right", async () => {
    await using role = await startSandbox(TOKEN, (await filesFrom(authority)).env);
    await using stranger = await tlsFrom(
      await certificateFiles({ ...(await foreign.issue()), ca: foreign.ca + authority.ca }),
    );
    const source = "export default async () => 1";
    for (const [url, tls] of [
      [role.url.replace("https", "http"), undefined],
      [role.url, stranger],
    ] as const) {
      const warnings: Record<string, unknown>[] = [];
      await using pool = openPool({ url }, tls, warnings);
      const outcome = runSource(pool, source, { limits: { wallMs: 3_000 } });
      await until("the refusal is logged", () => warnings.length > 0);
      expect(pool.isReady()).toBe(false);
      if (!tls) expect((await outcome).kind).toBe("unavailable");
      else outcome.catch(() => {});
    }
  });

  it("[TOOL-2] is refused if its certificate is of another authority or for another name, before it gets the token", async () => {
    await using tls = await tlsFrom(await filesFrom(authority));
    for (const files of [await filesFrom(foreign), await filesFrom(authority, "DNS:other.example")]) {
      await using role = await startSandbox(TOKEN, files.env);
      const warnings: Record<string, unknown>[] = [];
      await using pool = openPool(role, tls, warnings);
      void runSource(pool, "export default async () => 1").catch(() => {});
      await until("the refusal is logged", () => warnings.length > 0);
      expect(String(warnings[0]?.stderr)).toMatch(/certificate|altnames/);
    }
  });
});
