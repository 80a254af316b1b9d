import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isPublicAddress, PUBLIC_NETWORKS } from "@toolgate/safe-fetch/address";
import { SERVER_USERS } from "@toolgate/service-registry/server-users";
import {
  bareVariables,
  NEED_VARIABLES,
  SERVICE_NAMES,
  serviceEntry,
  TLS_VARIABLES,
} from "@toolgate/service-registry/services";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { documentedSeconds } from "../src/checks/draining.ts";
import { PRIVATE_ADDRESSES, PUBLIC_ADDRESSES } from "../src/checks/network.ts";
import { generatedFiles } from "../src/generated-files.ts";
import { CHART } from "../src/paths.ts";
import { type ProcessFacts, secretSources, singleProcess, splitProcesses } from "../src/processes.ts";

const DEVELOPMENT_ONLY = ["ALLOWED_TARGETS", "TARGET_CA_FILE", "NODE_ENV"];
const all: Record<string, ProcessFacts> = { ...splitProcesses(), toolgate: singleProcess() };

test.each(Object.entries(generatedFiles()))("%s is what make gen writes", async (path, content) => {
  const found = await readFile(join(CHART, path), "utf8");
  const read = (text: string) => (path.endsWith(".json") ? JSON.parse(text) : parse(text));
  expect(read(found)).toEqual(read(content));
});

test("the chart has every service and role of the registry, and its values an entry for each", async () => {
  const expected = SERVICE_NAMES.flatMap((service) => {
    const roles = Object.keys(serviceEntry(service).roles ?? {});
    if (service === "tool-runner") return ["tool-runner", "tool-runner-sandbox"];
    return roles.length === 0 ? [service] : roles.map((role) => `${service}-${role}`);
  });
  expect(Object.keys(splitProcesses()).toSorted()).toEqual(expected.toSorted());
  const { processes } = parse(await readFile(join(CHART, "values.yaml"), "utf8"));
  expect(Object.keys(processes).toSorted()).toEqual([...expected, "toolgate"].toSorted());
});

test("every variable that the registry gives a process is a setting, a secret, set by the chart or for development only", () => {
  for (const { service, role, settings, secrets, managed, peers } of Object.values(splitProcesses())) {
    const entry = serviceEntry(service as (typeof SERVICE_NAMES)[number]);
    const own = role || (service === "tool-runner" ? "runner" : "");
    const needs = entry.roles?.[own]?.needs ?? entry.needs;
    const listed = bareVariables(service as (typeof SERVICE_NAMES)[number], own) ?? [
      ...needs.flatMap((need) => NEED_VARIABLES[need]),
      ...entry.variables.filter(({ roles }) => !own || !roles || roles.includes(own)).map(({ name }) => name),
    ];
    // Without children of its own, tool-runner needs no isolation around them.
    const weak = "SANDBOX_URL" in peers ? ["SANDBOX_DANGEROUSLY_WEAK_ISOLATION"] : [];
    const known = [...settings, ...Object.keys(secrets), ...managed, ...Object.keys(peers), "ROLES", ...weak];
    expect(listed.filter((name) => ![...known, ...DEVELOPMENT_ONLY].includes(name))).toEqual([]);
    const secret = entry.variables.filter((variable) => variable.secret).map(({ name }) => name);
    expect(
      settings.filter((name) => secret.includes(name) || (name.endsWith("_URL") && name !== "PUBLIC_URL")),
    ).toEqual([]);
  }
});

test("the sandbox gets the hash of its token and knows nobody; only tool-runner has the token", () => {
  const processes = splitProcesses();
  const { secrets, settings, managed, peers, servers, reachesInternet } = processes[
    "tool-runner-sandbox"
  ] as ProcessFacts;
  expect(secrets).toEqual({ SANDBOX_TOKEN_HASH: "sandbox-token" });
  expect(settings).toEqual(["LOG_LEVEL"]);
  expect(managed.toSorted()).toEqual(
    ["BIND_HOST", "OPS_PORT", "RPC_PORT", "SANDBOX_DANGEROUSLY_WEAK_ISOLATION", ...TLS_VARIABLES].toSorted(),
  );
  expect({ peers, servers, reachesInternet }).toEqual({ peers: {}, servers: [], reachesInternet: false });
  const having = Object.entries(all).filter(([, facts]) => facts.secrets.SANDBOX_TOKEN);
  expect(having.map(([name]) => name)).toEqual(["tool-runner"]);
});

test("every Secret of a process is described with its keys", () => {
  const sources = secretSources();
  for (const { secrets } of Object.values(splitProcesses())) {
    for (const [variable, source] of Object.entries(secrets)) expect(sources[source]).toContain(variable);
  }
});

test("a queue that replicas scale on is a consumer of its process, in the list of logins", () => {
  for (const { queue, secrets } of Object.values(all)) {
    if (!queue) continue;
    const user = SERVER_USERS.find(({ name }) => secrets.NATS_URL === `login-${name}`);
    expect(user?.nats.publish).toContain(`$JS.API.CONSUMER.MSG.NEXT.${queue.stream}.${queue.consumer}`);
  }
});

test("a process drains at least as long as the operators' page says, and as its calls may take", () => {
  for (const service of SERVICE_NAMES.filter((name) => name !== "gateway")) {
    expect(documentedSeconds(service)).toBeGreaterThan(0);
    const parts = Object.values(splitProcesses()).filter((part) => part.service === service);
    for (const { drainSeconds } of parts) expect(drainSeconds).toBeGreaterThanOrEqual(documentedSeconds(service));
  }
});

test("the addresses that policies are checked with are public or not, as safe-fetch says", () => {
  expect(PRIVATE_ADDRESSES.filter(isPublicAddress)).toEqual([]);
  expect(PUBLIC_ADDRESSES.filter((address) => !isPublicAddress(address))).toEqual([]);
  expect(PUBLIC_NETWORKS.map(({ cidr }) => cidr)).toEqual(["0.0.0.0/0", "2000::/3"]);
});
