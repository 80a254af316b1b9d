import { sandboxStatus } from "@toolgate/sandbox/processes/remote-process";
import type { Env } from "@toolgate/service-host/env";
import { readHostConfig } from "@toolgate/service-host/process/host-config";
import { createLogger } from "@toolgate/service-host/process/logger";
import { serverAddresses } from "@toolgate/service-host/rpc/addresses";
import { isServing } from "@toolgate/service-host/rpc/probe";
import { openProcessTls } from "@toolgate/service-host/tls/process-tls";
import { SERVICE_NAMES, SERVICES, urlVariable } from "@toolgate/service-registry/services";
import { type Findings, type Member, messageOf, RESPONSE_MS } from "./finding.ts";

const SANDBOX_ANSWERS: Readonly<Record<number, string>> = {
  401: "does not accept SANDBOX_TOKEN: its SANDBOX_TOKEN_HASH is that of another one",
  503: "has as many processes as it can have",
};

/** Whether every process that the settings name responds and is ready. */
export async function checkProcesses(env: Env, members: readonly Member[], findings: Findings): Promise<void> {
  const look = async (what: string, ask: () => Promise<boolean>) => {
    try {
      if (!(await ask())) findings.add("processes", `${what} is not ready`);
    } catch (error) {
      findings.add("processes", `${what} does not respond: ${messageOf((error as Error).cause ?? error)}`);
    }
  };
  await using tls = await openTls(env, findings);
  const services = SERVICE_NAMES.filter((name) => SERVICES[name].rpcs.length > 0 && env[urlVariable(name)]).map(
    (name) =>
      look(`the address of ${name}`, async () => {
        const addresses = await serverAddresses(env[urlVariable(name)] ?? "");
        await Promise.all(addresses.map((at) => look(`${name} at ${at}`, () => isServing(at, RESPONSE_MS, tls))));
        return true;
      }),
  );
  const ops = (env.OPS_URLS ?? "").split(",").filter(Boolean);
  const others = ops.map((url) =>
    look(`the process at ${url}`, async () => {
      return (await fetch(new URL("/readyz", url.trim()), { signal: AbortSignal.timeout(RESPONSE_MS) })).ok;
    }),
  );
  const { SANDBOX_URL = "", SANDBOX_TOKEN = "" } =
    members.find(({ user }) => user.service === "tool-runner")?.env ?? {};
  const sandbox = async () => {
    const ask = async (at: string) => {
      const signal = AbortSignal.timeout(RESPONSE_MS);
      const answer = SANDBOX_ANSWERS[await sandboxStatus(at, { token: SANDBOX_TOKEN, tls, signal })];
      if (answer) findings.add("processes", `sandbox at ${at} ${answer}`);
      return true;
    };
    const addresses = await serverAddresses(SANDBOX_URL);
    await Promise.all(addresses.map((at) => look(`sandbox at ${at}`, () => ask(at))));
    return true;
  };
  await Promise.all([...services, ...others, SANDBOX_URL !== "" && look("the address of sandbox", sandbox)]);
}

async function openTls(env: Env, findings: Findings) {
  try {
    const { tlsFiles } = readHostConfig(env);
    return tlsFiles && (await openProcessTls(tlsFiles, { log: createLogger({ service: "doctor", level: "silent" }) }));
  } catch (error) {
    findings.add("settings", messageOf(error));
    return undefined;
  }
}
