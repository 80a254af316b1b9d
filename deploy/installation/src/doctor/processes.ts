import { connect } from "node:net";
import { readHostConfig } from "@toolgate/service-host/launch";
import { createLogger } from "@toolgate/service-host/logger";
import { serverAddresses } from "@toolgate/service-host/rpc/addresses";
import { probeRpcServer, timeIn } from "@toolgate/service-host/rpc/probe";
import { openProcessTls, type ProcessTls } from "@toolgate/service-host/tls/process-tls";
import { SERVICE_NAMES, urlVariable } from "@toolgate/service-registry/services";
import type { Clocks } from "./clocks.ts";
import { type Findings, messageOf, RESPONSE_MS } from "./finding.ts";
import type { Installation } from "./installation.ts";

/** The header Date has whole seconds. */
const DATE_STEP_MS = 1_000;
const START = "Start the process, and read its log if it does not start";

/** Whether every process that the settings name responds and is ready, and what its clock says. */
export async function checkProcesses({ env }: Installation, clocks: Clocks, findings: Findings): Promise<void> {
  await using tls = await processTls(env, findings);
  const rpcs = SERVICE_NAMES.map((name) =>
    checkRpcServers(name, env[urlVariable(name)] ?? "", { tls, clocks, findings }),
  );
  const ops = listOf(env.OPS_URLS).map((url) => checkOpsServer(url, clocks, findings));
  const sockets = [
    ...listOf(env.SANDBOX_URL).map((url) => ({ url, what: "the sandbox", port: 80 })),
    ...listOf(env.SMTP_URL).map((url) => ({ url, what: "the email server", port: 25 })),
  ].map(({ url, what, port }) => checkSocket(what, url, port, findings));
  await Promise.all([...rpcs, ...ops, ...sockets]);
}

function listOf(text = ""): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

async function processTls(env: Installation["env"], findings: Findings): Promise<ProcessTls | undefined> {
  try {
    const { tlsFiles } = readHostConfig(env);
    return tlsFiles && (await openProcessTls(tlsFiles, { log: createLogger({ service: "doctor", level: "silent" }) }));
  } catch (error) {
    findings.add("settings", messageOf(error), "docs/operators.md, Encryption between processes.");
    return undefined;
  }
}

interface Probing {
  tls: ProcessTls | undefined;
  clocks: Clocks;
  findings: Findings;
}

async function checkRpcServers(name: string, urls: string, { tls, clocks, findings }: Probing): Promise<void> {
  if (urls === "") return;
  let addresses: string[];
  try {
    addresses = await serverAddresses(urls);
  } catch (error) {
    findings.add(
      "processes",
      `the address of ${name} cannot be found: ${messageOf(error)}`,
      "Correct its URL or the name server.",
    );
    return;
  }
  await Promise.all(
    addresses.map(async (address) => {
      try {
        const sentAt = clocks.now();
        const { isReady, nowMs } = await probeRpcServer(address, RESPONSE_MS, tls);
        if (nowMs !== undefined) clocks.compare(`${name} at ${address}`, nowMs, sentAt, DATE_STEP_MS);
        if (!isReady)
          findings.add("processes", `${name} at ${address} is not ready`, "Its /readyz on OPS_PORT says why.");
      } catch (error) {
        findings.add("processes", `${name} at ${address} does not respond: ${messageOf(error)}`, `${START}.`);
      }
    }),
  );
}

async function checkOpsServer(url: string, clocks: Clocks, findings: Findings): Promise<void> {
  try {
    const sentAt = clocks.now();
    const response = await fetch(new URL("/readyz", url), { signal: AbortSignal.timeout(RESPONSE_MS) });
    const nowMs = timeIn(response.headers);
    if (nowMs !== undefined) clocks.compare(`the process at ${url}`, nowMs, sentAt, DATE_STEP_MS);
    const reason = (await response.text()).trim();
    if (!response.ok)
      findings.add(
        "processes",
        `the process at ${url} is not ready: ${reason}`,
        "Follow the reason; its log says more.",
      );
  } catch (error) {
    const { cause = error } = error as Error;
    findings.add("processes", `no process responds at ${url}: ${messageOf(cause)}`, `${START}, or correct OPS_URLS.`);
  }
}

async function checkSocket(what: string, address: string, defaultPort: number, findings: Findings): Promise<void> {
  const url = URL.parse(address);
  if (!url) return;
  const port = Number(url.port || defaultPort);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port, timeout: RESPONSE_MS });
  socket.once("connect", resolve).once("error", reject);
  socket.once("timeout", () => reject(new Error("no response")));
  await promise
    .catch((error) =>
      findings.add(
        "processes",
        `${what} at ${url.hostname}:${port} cannot be reached: ${messageOf(error)}`,
        "Start it, correct its URL, or let traffic to it pass.",
      ),
    )
    .finally(() => socket.destroy());
}
