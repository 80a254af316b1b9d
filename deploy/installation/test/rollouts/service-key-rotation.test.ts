import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { VerifyService } from "@toolgate/gen/toolgate/key_auth/v1/verify_pb";
import { isReady, type ServiceProcess, startServiceProcess } from "@toolgate/local/service-process";
import { newServiceKey, publicKeyOf } from "@toolgate/service-host/identity/service-keys";
import { remoteTransport } from "@toolgate/service-host/rpc/transport";
import { serviceToken } from "@toolgate/testbed/service-identity";
import { expect, test } from "vitest";
import { outcomeOf } from "../every-rpc.ts";
import { runToolgate } from "../running-toolgate.ts";

/** Those that a tool call needs. */
const REPLICAS = { gateway: 2, "key-auth": 2, "tool-runner": 2 };
const SERVES_NO_SERVICE = ["gateway", "sandbox"];
const STOP_MS = 100_000;
/** Sixteen processes are started again, one after another. */
const DEADLINE_MS = 600_000;

async function environmentOf(pid: number): Promise<Record<string, string>> {
  const entries = (await readFile(`/proc/${pid}/environ`, "utf8")).split("\0").filter((entry) => entry.includes("="));
  const all = entries.map((entry) => [entry.slice(0, entry.indexOf("=")), entry.slice(entry.indexOf("=") + 1)]);
  return Object.fromEntries(all.filter(([name]) => !name?.startsWith("NODE_CHANNEL")));
}

test.runIf(process.platform === "linux")(
  "a service gets another key in the three documented steps, and no call fails",
  async () => {
    await using toolgate = await runToolgate("split", { replicas: REPLICAS });
    await using restarted = new AsyncDisposableStack();
    const processes: ServiceProcess[] = [...toolgate.processes()];
    await toolgate.saveTool("plain", {
      external_api: true,
      handler: "export default async () => ({ success: true });",
    });
    const { secret } = await toolgate.createKey({ name: "k", tools: ["plain"], limit: 10_000 });

    /** Those that a load balancer would use. */
    let gateways = toolgate.gatewayUrls;
    const failures: string[] = [];
    let calls = 0;
    const load = new AbortController();
    const lanes = [0, 1, 2].map(async (lane) => {
      for (; !load.signal.aborted; calls += 1) {
        const url = `${gateways[lane % gateways.length]}/api/v1/tools/plain`;
        const init = { method: "POST", headers: { authorization: `Bearer ${secret}` }, body: "{}" };
        const outcome = await fetch(url, init).then(
          async (response) => (response.ok ? undefined : `${response.status} ${await response.text()}`),
          String,
        );
        if (outcome) failures.push(outcome);
        await sleep(20);
      }
    });

    /** Restarts each of these processes in turn, with changes of its environment. */
    async function restart(isMeant: (name: string) => boolean, change: Record<string, string>) {
      for (const [index, old] of processes.entries()) {
        if (!isMeant(old.name)) continue;
        const env = await environmentOf(old.pid);
        const entry = (await readFile(`/proc/${old.pid}/cmdline`, "utf8")).split("\0").filter(Boolean).at(-1) ?? "";
        const before = calls;
        gateways = toolgate.gatewayUrls.filter((url) => new URL(url).port !== env.PORT || old.name !== "gateway");
        while (calls < before + 2 * lanes.length) await sleep(20);
        await old.stop(STOP_MS);
        const ready = () => isReady(Number(env.OPS_PORT));
        const settings = { name: old.name, entry, env: { ...env, ...change }, ready, log: () => {} };
        processes[index] = restarted.use(await startServiceProcess(settings));
        gateways = toolgate.gatewayUrls;
      }
    }

    const oldKey = toolgate.serviceKeys.gateway ?? "";
    const { serviceKey, publicKey } = newServiceKey();
    const someServer = processes.find(({ name }) => name === "key-auth");
    const { SERVICE_PUBLIC_KEYS: before = "" } = await environmentOf(someServer?.pid ?? 0);
    const oldEntry = `gateway:${publicKeyOf(oldKey)}`;
    expect(before.split(",")).toContain(oldEntry);
    const serves = (name: string) => !SERVES_NO_SERVICE.includes(name);
    const outcomeWith = (key: string) => {
      const token = serviceToken("gateway", "key-auth", { serviceKey: key });
      const transport = remoteTransport(toolgate.rpcUrls["key-auth"] ?? "", () => token);
      return outcomeOf(transport, VerifyService.method.verify, {});
    };
    await restart(serves, { SERVICE_PUBLIC_KEYS: `${before},gateway:${publicKey}` });
    await restart((name) => name === "gateway", { SERVICE_KEY: serviceKey });
    for (const key of [oldKey, serviceKey]) expect(await outcomeWith(key)).not.toBe("Unauthenticated");
    const without = before.split(",").filter((entry) => entry !== oldEntry);
    await restart(serves, { SERVICE_PUBLIC_KEYS: [...without, `gateway:${publicKey}`].join(",") });
    expect(await outcomeWith(oldKey)).toBe("Unauthenticated");
    expect(await outcomeWith(serviceKey)).not.toBe("Unauthenticated");
    const sofar = calls;
    while (calls < sofar + 50) await sleep(20);
    load.abort();
    await Promise.all(lanes);
    expect(failures).toEqual([]);
  },
  DEADLINE_MS,
);
