import { readFile } from "node:fs/promises";
import type { ServiceDefinition } from "@toolgate/service-host/service";
import { NEED_VARIABLES, SERVICE_NAMES, type ServiceName, serviceEntry } from "@toolgate/service-registry/services";
import { describe, expect, test } from "vitest";

const ROOT = new URL("../../../", import.meta.url);
/** Configures every service, with all optional variables. */
const ENV: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://d",
  REDIS_URL: "redis://r",
  NATS_URL: "nats://n",
  SEALING_KEYS: `1:${Buffer.alloc(32).toString("base64")}`,
  SMTP_URL: "smtp://m",
  MAIL_FROM: "a@gate.example",
  SANDBOX_TOKEN_HASH: "0".repeat(64),
};

async function definitionOf(name: ServiceName): Promise<ServiceDefinition<unknown>> {
  return (await import(`@toolgate/${name}/service`)).service;
}

describe.each(SERVICE_NAMES)("the entry of %s in the service registry", (name) => {
  const entry = serviceEntry(name);

  test("names every variable that the service reads, and no other", async () => {
    const read = new Set<string>();
    const definition = await definitionOf(name);
    const recording = new Proxy(ENV, {
      get(env, variable: string) {
        read.add(variable);
        return env[variable];
      },
    });
    definition.readConfig(recording);
    const declared = [
      ...entry.needs.flatMap((need) => NEED_VARIABLES[need]),
      ...entry.variables.map((one) => one.name),
    ];
    expect([...read].toSorted()).toEqual([...new Set(declared)].toSorted());
    expect(definition.name).toBe(name);
  });

  test("has its variables in the operators' page and its name in the layer rules", async () => {
    const page = await readFile(new URL("docs/operators.md", ROOT), "utf8");
    expect(entry.variables.filter((variable) => !page.includes(`\`${variable.name}\``))).toEqual([]);
    expect(await readFile(new URL("layers.grit", ROOT), "utf8")).toMatch(new RegExp(`[:|]${name}[|)]`));
  });

  test("has the ports that the operators' page gives it", async () => {
    const { http, rpc, ops } = entry.ports;
    const ports = [...(rpc ? [`RPC_PORT=${rpc}`] : []), ...(http ? [`PORT=${http}`] : []), `OPS_PORT=${ops}`].join(" ");
    const page = await readFile(new URL("docs/operators.md", ROOT), "utf8");
    expect(page).toContain(`${ports} node services/${name}/src/main.ts`);
  });

  test("gives no process role a need that its service does not have", () => {
    const needs = Object.values(entry.roles ?? {}).flatMap((role) => role.needs);
    expect(needs.filter((need) => !entry.needs.includes(need))).toEqual([]);
  });
});
