import { readFile } from "node:fs/promises";
import {
  NEED_VARIABLES,
  variablesOf as readBy,
  SERVICE_NAMES,
  serviceEntry,
  TLS_VARIABLES,
} from "@toolgate/service-registry/services";
import { expect, test } from "vitest";
import { programNames } from "../../src/programs.ts";
import { type ComposeService, readCompose, variablesOf } from "./compose-file.ts";

const compose = readCompose(new URL("../../../compose.yaml", import.meta.url));
const services = Object.entries(compose.services);
const ownServices = services.filter(([, { image }]) => image.startsWith("${TOOLGATE_IMAGE"));
const PROCESS = ["LOG_LEVEL", "BIND_HOST", "RPC_PORT", "OPS_PORT", "NODE_ENV", ...TLS_VARIABLES];
const ALL_SERVICES = SERVICE_NAMES.flatMap((name) => serviceEntry(name).variables.map((variable) => variable.name));
const LOGINS = ["DATABASE_URL", "NATS_URL", "REDIS_URL"];

/** What each program reads. */
const READ: Readonly<Record<string, readonly string[]>> = {
  logins: LOGINS,
  migrations: ["DATABASE_URL", "LOGINS", "SERVERS_CA_FILE"],
  sandbox: readBy("sandbox"),
  toolgate: [...PROCESS, ...ALL_SERVICES, ...Object.values(NEED_VARIABLES).flat(), "LOGINS"],
  admin: [...PROCESS, ...ALL_SERVICES, ...Object.values(NEED_VARIABLES).flat(), "LOGINS", "OPS_URLS"],
};

function programIn({ entrypoint = [], command = [] }: ComposeService): string | undefined {
  const start = entrypoint.findIndex((word) => word.endsWith("start-main.ts"));
  return entrypoint.length > 0 ? entrypoint[start + 1] : command[0];
}

test("every container of Toolgate runs a program of the image, with variables that the program reads", () => {
  for (const [name, service] of ownServices.filter(([name]) => name !== "prepare")) {
    const program = programIn(service) ?? "";
    expect(programNames(), name).toContain(program);
    for (const variable of Object.keys(service.environment ?? {})) expect(READ[program], name).toContain(variable);
  }
});

test("everything that is referred to exists, and nothing is left over", () => {
  const used = { volumes: new Set<string>(), networks: new Set<string>(), configs: new Set<string>() };
  for (const [name, { volumes = [], networks = [], configs = [], depends_on = {} }] of services) {
    for (const volume of volumes) used.volumes.add(volume.split(":")[0] ?? "");
    for (const network of networks) used.networks.add(network);
    for (const { source } of configs) used.configs.add(source);
    for (const [other, { condition }] of Object.entries(depends_on)) {
      const target = compose.services[other];
      expect(target, `${name} waits for ${other}`).toBeDefined();
      if (condition === "service_healthy") expect(target?.healthcheck, other).toBeDefined();
      else expect([condition, target?.restart]).toEqual(["service_completed_successfully", "no"]);
    }
  }
  for (const kind of ["volumes", "networks", "configs"] as const)
    expect([...used[kind]].toSorted(), kind).toEqual(Object.keys(compose[kind]).toSorted());
});

test("only the gateway's port is published, on loopback, and only its process reaches the internet", () => {
  for (const [name, { ports = [], networks = [], network_mode: mode }] of services) {
    expect(ports, name).toEqual(name === "toolgate" ? [expect.stringContaining("{LISTEN:-127.0.0.1:8080}:8080")] : []);
    const outside = networks.filter((network) => !compose.networks[network]?.internal);
    expect(outside, name).toEqual(name === "toolgate" ? ["outside"] : []);
    if (networks.length === 0) expect(mode, name).toBe("none");
  }
  expect(compose.services.sandbox?.networks).toEqual(["sandbox"]);
});

test("containers of Toolgate have no rights and cannot change their files, and those that stay tell their health", () => {
  for (const [name, service] of ownServices) {
    expect(service.read_only, name).toBe(true);
    expect(service.cap_drop, name).toEqual(["ALL"]);
    expect(service.security_opt, name).toContain("no-new-privileges:true");
    expect(service.user, name).toBe(name === "prepare" ? "0:0" : "10001:10001");
  }
  for (const [name, { restart, healthcheck }] of services)
    expect(healthcheck !== undefined, name).toBe(restart === "unless-stopped");
});

test("docs/compose.md names every variable of the file, with its default", async () => {
  const text = await readFile(new URL("../../../../docs/compose.md", import.meta.url), "utf8");
  const rows = text.split("\n").filter((line) => line.startsWith("| `"));
  for (const [name, fallback] of Object.entries(variablesOf(compose))) {
    const row = rows.find((line) => line.includes(`\`${name}\``)) ?? "";
    const stated = fallback === undefined ? "**required**" : fallback === "" ? "| – |" : `\`${fallback}\``;
    expect(row, name).toContain(stated);
  }
});
